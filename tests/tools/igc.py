#!/usr/bin/env python3
"""Intel's compiler through its own interface (CIF), in ctypes: what `ocloc` does for devices that it no longer knows.

Objects are C++ ones whose tables of functions have the order of IGC's headers (ocl_igc_interface, cif/common/cif.h); only
functions of each interface's first versions are called, which all releases have.
"""
import ctypes
import os
import struct
import sys

u64, u32, ptr, size_t = ctypes.c_uint64, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t


def encode(text):
    """The number of a name: letters of 5 bits, digits of 4, a code that changes between them."""
    letters, digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ-_:@.', '0123456789-_:#.'
    value, at, is_text = 0, 0, True

    def put(code):
        nonlocal value, at
        bits = 5 if is_text else 4
        if at + bits > 64:
            return False
        value |= code << at
        at += bits
        return True

    for c in text:
        if c not in (letters if is_text else digits):
            put(len(letters) if is_text else len(digits))
            is_text = not is_text
        assert put((letters if is_text else digits).index(c))
    while put(len(letters) if is_text else len(digits)):
        is_text = not is_text
    return value


class Object:
    """A C++ object: call(slot, result, (type, value)...)."""
    def __init__(self, address):
        assert address
        self.address = address

    def call(self, slot, result, *arguments):
        table = ctypes.cast(self.address, ctypes.POINTER(ptr))[0]
        function = ctypes.cast(table, ctypes.POINTER(ptr))[slot]
        prototype = ctypes.CFUNCTYPE(result, ptr, *[t for t, _ in arguments])
        return prototype(function)(self.address, *[v for _, v in arguments])

    def create(self, name, version):
        return Object(self.call(8, ptr, (u64, encode(name)), (u64, version)))


class Buffer(Object):
    def __init__(self, main, data=b''):
        super().__init__(main.create('CIF_BUFFER', 1).address)
        self.data = data
        if data:
            self.call(13, None, (ptr, ctypes.cast(ctypes.c_char_p(data), ptr).value), (size_t, len(data)))


def bytes_of(address):
    buffer = Object(address)
    size = buffer.call(17, size_t)
    return ctypes.string_at(buffer.call(15, ptr), size) if size else b''


def open_library(name):
    library = ctypes.CDLL(name)
    library.CIFCreateMain.restype = ptr
    return Object(library.CIFCreateMain())


def output_of(address):
    """(whether it went well, log, output, debug data)"""
    out = Object(address)
    log, output, debug = (bytes_of(out.call(slot, ptr, (u64, 1))) for slot in (14, 15, 16))
    return out.call(11, ctypes.c_bool), log.rstrip(b'\0'), output, debug


def set_platform(platform, product, core, pci_id, revision):
    platform.call(12, None, (u64, product))
    platform.call(16, None, (u64, core))
    platform.call(18, None, (u64, core))
    platform.call(22, None, (ctypes.c_ushort, pci_id))
    platform.call(24, None, (ctypes.c_ushort, revision))


def front_end(library, device, source, output, options, internal, version=300):
    """OpenCL C to SPIR-V ("SPIRV") or bitcode ("LLVM_BC")."""
    main = open_library(library)
    context = main.create('FCL_OCL_DEVC', 4)
    context.call(11, None, (u32, version))
    set_platform(Object(context.call(15, ptr, (u64, 1))), *device)
    translation = Object(context.call(12, ptr, (u64, 1), (u64, encode('OCL_C')), (u64, encode(output))))
    buffers = [Buffer(main, data) for data in (source + b'\0', options, internal)]
    return output_of(translation.call(11, ptr, (u64, 1), *[(ptr, b.address) for b in buffers], (ptr, None), (u32, 0)))


def back_end(library, device, system, source, kind, output, options, internal):
    """SPIR-V, bitcode or an ELF file of several to a device's binary or bitcode."""
    main = open_library(library)
    context = main.create('IGC_OCL_DEVC', 1)
    context.call(11, None, (ctypes.c_float, 83.333))
    set_platform(Object(context.call(12, ptr, (u64, 1))), *device)
    info = Object(context.call(13, ptr, (u64, 1)))
    for slot, value in system.items():
        info.call(slot, None, (u32, value))
    features = Object(context.call(14, ptr, (u64, 1)))
    features.call(50, None, (ctypes.c_bool, True))
    translation = Object(context.call(15, ptr, (u64, 1), (u64, encode(kind)), (u64, encode(output))))
    buffers = [Buffer(main, data) for data in (source, options, internal)]
    return output_of(translation.call(11, ptr, (u64, 1), *[(ptr, b.address) for b in buffers], (ptr, None), (u32, 0)))


# today's front end serves IGC 1, too; of libigdfcl1 1.0.17791 `(float4)(x)` has one component
NEWER = '/usr/lib/x86_64-linux-gnu/libigdfcl.so.2'
FRONT_END = NEWER if os.path.exists(NEWER) else 'libigdfcl.so.1'

# ---- As ocloc ------------------------------------------------------------------------------------

# product family, GFXCORE family, PCI id, revision, what it is called in names of files, and what it has
DEVICES = {
    'bdw': (16, 11, 0x1602, 0, 'Gen8core', 'doubles atomics newer'),
    'skl': (18, 12, 0x1902, 9, 'Gen9core', 'doubles atomics newer vme'),
    'kbl': (19, 12, 0x5902, 9, 'Gen9core', 'doubles atomics newer vme'),
    'aml': (19, 12, 0x591c, 9, 'Gen9core', 'doubles atomics newer vme'),
    'cfl': (20, 12, 0x3e90, 9, 'Gen9core', 'doubles atomics newer vme'),
    'whl': (20, 12, 0x3ea0, 9, 'Gen9core', 'doubles atomics newer vme'),
    'cml': (20, 12, 0x9bc5, 9, 'Gen9core', 'doubles atomics newer vme'),
    'bxt': (22, 12, 0x5a84, 0, 'Gen9lp', 'doubles vme'),
    'apl': (22, 12, 0x5a84, 0, 'Gen9lp', 'doubles vme'),
    'glk': (23, 12, 0x3184, 0, 'Gen9lp', 'doubles vme'),
    'icllp': (26, 15, 0xff05, 0, 'Gen11lp', 'atomics newer vme'),
    'lkf': (27, 15, 0x9840, 0, 'Gen11lp', 'vme'),
    'ehl': (28, 15, 0x4500, 0, 'Gen11lp', ''),
    'jsl': (28, 15, 0x4500, 0, 'Gen11lp', ''),
}
EXTENSIONS = ('''khr_byte_addressable_store khr_device_uuid khr_fp16 khr_global_int32_base_atomics khr_global_int32_extended_atomics
khr_icd khr_local_int32_base_atomics khr_local_int32_extended_atomics intel_command_queue_families intel_subgroups
intel_required_subgroup_size intel_subgroups_short khr_spir intel_accelerator intel_driver_diagnostics khr_priority_hints
khr_throttle_hints khr_create_command_queue intel_subgroups_char intel_subgroups_long khr_il_program
intel_mem_force_host_memory khr_subgroup_extended_types khr_subgroup_non_uniform_vote khr_subgroup_ballot
khr_subgroup_non_uniform_arithmetic khr_subgroup_shuffle khr_subgroup_shuffle_relative khr_subgroup_clustered_reduce
intel_device_attribute_query khr_suggested_local_work_size intel_split_work_group_barrier''', {
    'newer': 'khr_subgroups intel_spirv_media_block_io intel_spirv_subgroups khr_spirv_no_integer_wrap_decoration',
    'doubles': 'khr_fp64', 'atomics': 'khr_int64_base_atomics khr_int64_extended_atomics',
    'vme': 'intel_motion_estimation intel_device_side_avc_motion_estimation'})


def internal_options(has):
    names = EXTENSIONS[0].split() + ['khr_3d_image_writes'] + [n for what in has for n in EXTENSIONS[1][what].split()]
    if FRONT_END == NEWER:
        names += ('khr_mipmap_image khr_mipmap_image_writes khr_extended_bit_ops khr_image2d_from_buffer khr_depth_images '
                  'khr_gl_msaa_sharing khr_gl_depth_images ext_float_atomics').split()
    if 'newer' in has and 'vme' in has:
        names.append('intel_spirv_device_side_avc_motion_estimation')
    return '-ocl-version=300 -cl-ext=-all,' + ','.join('+cl_' + n for n in names) + \
        ' -D__IMAGE_SUPPORT__=1 -cl-intel-has-buffer-offset-arg'


def container(sections):
    """The ELF file around a binary: (type, name, bytes)."""
    names, data, heads = b'\0.shstrtab\0', b'', [struct.pack('<IIQQQQIIQQ', *[0] * 10)]
    first = 64 + 64 * (len(sections) + 2)
    for kind, name, content in sections:
        heads.append(struct.pack('<IIQQQQIIQQ', len(names), kind, 0, 0, first + len(data), len(content), 0, 0, 8, 0))
        names += name + b'\0'
        data += content + bytes(-len(content) % 8)
    heads.append(struct.pack('<IIQQQQIIQQ', 1, 3, 0, 0, first + len(data), len(names), 0, 0, 8, 0))
    return struct.pack('<16sHHIQQQIHHHHHH', b'\x7fELF\2\1\1', 0xff04, 0, 1, 0, 0, 64, 0, 64, 56, 0, 64, len(heads),
                       len(heads) - 1) + b''.join(heads) + data + names + bytes(-len(names) % 8)


def parse(words):
    """A dictionary of options; lists for what may come several times."""
    at = {'flags': set(), '-internal_options': []}
    words = list(words)
    while words:
        word = words.pop(0)
        if word in ('-file', '-device', '-output', '-options', '-out_dir', '-internal_options', '--format') and words:
            value = words.pop(0)
            if word == '-internal_options':
                at[word].append(value)
            else:
                at[word] = value
        else:
            at['flags'].add(word)
    unknown = at['flags'] - {'compile', '-q', '-64', '-spv_only', '-llvm_input', '-spirv_input', '-output_no_suffix',
                             '-gen_file', '-exclude_ir'}
    if unknown:
        sys.exit(f'igc.py: it does not know {", ".join(sorted(unknown))}')
    return at


def compile_as_ocloc(words):
    at = parse(words)
    flags = at['flags']
    device = DEVICES[at['-device']]
    has = device[5].split()
    options = at.get('-options', '')
    formats = {'zebin': ['-cl-intel-allow-zebin'], 'patchtokens': ['-cl-intel-disable-zebin']} # others are ignored
    internal = ' '.join(at['-internal_options'] + [internal_options(has)] + formats.get(at.get('--format'), []))
    with open(at['-file'], 'rb') as f:
        source = f.read()
    if '-g' in options.split() and '-spirv_input' not in flags and '-s ' not in options:
        options += f' -s "{at["-file"]}"'
    trunk = at.get('-output') or os.path.splitext(os.path.basename(at['-file']))[0]
    folder = at.get('-out_dir', '.')
    base = os.path.join(folder, trunk + ('' if '-output_no_suffix' in flags else '_' + device[4]))

    def save(suffix, data):
        os.makedirs(os.path.dirname(base + suffix) or '.', exist_ok=True)
        with open(base + suffix, 'wb') as f:
            f.write(data)

    def step(done):
        ok, log, output, debug = done
        if log and ('-q' not in flags or not ok):
            print(log.decode(errors='replace'))
        if not ok:
            print('Build failed with error code: -11')
            sys.exit(245)
        return output, debug

    kind = 'LLVM_BC' if '-llvm_input' in flags else 'SPIRV'
    spirv = source
    if not flags & {'-llvm_input', '-spirv_input'}:
        spirv, _ = step(front_end(FRONT_END, device[:4], source, kind, options.encode(), internal.encode()))
    if '-spirv_input' not in flags:
        save('.bc' if kind == 'LLVM_BC' else '.spv', spirv)
    if '-spv_only' in flags:
        return
    done = None
    if 'zebin' not in internal + os.environ.get('IGC_EnableZEBinary', '') and os.path.exists(NEWER):
        # patch tokens, as IGC 1 made them by default before, and as tests expect; it cannot do that for all any more
        done = back_end('libigc.so.1', device[:4], {}, spirv, kind, 'OCL_GEN_BIN', options.encode(),
                        (internal + ' -cl-intel-disable-zebin').encode())
    if not done or not done[0]:
        done = back_end('libigc.so.1', device[:4], {}, spirv, kind, 'OCL_GEN_BIN', options.encode(), internal.encode())
    binary, debug = step(done)
    if '-gen_file' in flags:
        save('.gen', binary)
    if binary[:4] != b'\x7fELF':
        binary = container([s for s in (
            (0xff000006, b'BuildOptions', options.encode()),
            (0xff000003, b'Intel(R) OpenCL LLVM Object', spirv) if kind == 'LLVM_BC' else
            (0xff000009, b'SPIRV Object', b'' if '-exclude_ir' in flags else spirv),
            (0xff000008, b'Intel(R) OpenCL Device Debug', debug),
            (0xff000005, b'Intel(R) OpenCL Device Binary', binary)) if s[2]])
    save('' if '-output_no_suffix' in flags else '.bin', binary)
    if debug:
        save('.dbg', debug)


if __name__ == '__main__':
    compile_as_ocloc(sys.argv[1:])
