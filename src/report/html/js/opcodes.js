/* One sentence for each opcode, option and special register: what tooltips and the inspector say. */

const OPCODES = {
    add: 'Add: dst = src0 + src1.',
    add3: 'Three-operand add: dst = src0 + src1 + src2.',
    addc: 'Add and leave the carry out of each lane in the accumulator.',
    and: 'Bitwise and.',
    asr: 'Arithmetic shift right: the sign fills in from the left.',
    avg: 'Average of two integers, rounded up.',
    bfe: 'Extract a bit field: width src0, offset src1, value src2.',
    bfi1: 'First half of a bit-field insert: makes the mask.',
    bfi2: 'Second half of a bit-field insert: merges under the mask.',
    bfn: 'Any boolean function of three sources; the immediate is its truth table.',
    bfrev: 'Reverse the bits.',
    brc: 'Branch where lanes converge or diverge: two jump targets.',
    brd: 'Branch that may diverge: lanes that take it wait at the join.',
    break: 'Leave the innermost loop in the lanes that are active; the rest go on.',
    call: 'Call a subroutine: the return address goes to dst.',
    calla: 'Call a subroutine at an absolute address.',
    cbit: 'Count the bits that are set.',
    cmp: 'Compare: each lane sets its bit in the flag register to the outcome.',
    cmpn: 'Compare, where a NaN in src1 counts as true: for min and max.',
    cont: 'Continue with the next round of the loop in the active lanes.',
    csel: 'Select by comparing src2 with zero, without a flag register.',
    dp2: 'Dot product of two elements within each group of four.',
    dp3: 'Dot product of three elements within each group of four.',
    dp4: 'Dot product of four elements.',
    dp4a: 'Four 8-bit products added to a 32-bit sum.',
    dpas: 'Systolic dot product and accumulate: a matrix multiply step.',
    dpasw: 'Systolic dot product and accumulate, shared by two fused threads.',
    dph: 'Homogeneous dot product: the fourth element of src0 counts as one.',
    else: 'Swap the active lanes: those that failed the if run from here.',
    endif: 'Make the lanes active again that the if had switched off.',
    fbh: 'Find the first bit from the high end that differs from the sign.',
    fbl: 'Find the first set bit from the low end.',
    frc: 'Fraction: src0 - floor(src0).',
    goto: 'Jump for lanes of their own: the others wait to be joined.',
    halt: 'Switch lanes off for good (until the join at the end).',
    if: 'Switch lanes off where the predicate is false; jump when none is left.',
    illegal: 'Not an instruction: raises an exception.',
    jmpi: 'Jump of the whole thread.',
    join: 'Make the lanes active again that waited here after a goto.',
    line: 'Line equation: p * x + q.',
    lrp: 'Linear interpolation between two sources.',
    lzd: 'Count leading zeros.',
    mac: 'Multiply and add to the accumulator.',
    mach: 'High half of a 32-bit product: the second step after mul.',
    macl: 'Low half of a 32-bit product into dst, high half kept in the accumulator.',
    mad: 'Multiply and add: dst = src0 + src1 * src2.',
    madm: 'Multiply and add with extra exponent bits: a step of exact division and square root.',
    math: 'Extended math unit.',
    mov: 'Move, and convert between types.',
    movi: 'Move with an index: each lane picks its source register.',
    mul: 'Multiply.',
    nop: 'Nothing.',
    not: 'Bitwise not.',
    or: 'Bitwise or.',
    pln: 'Plane equation: p * u + q * v + r.',
    ret: 'Return from a subroutine.',
    rndd: 'Round down.',
    rnde: 'Round to nearest, ties to even.',
    rndu: 'Round up.',
    rndz: 'Round toward zero.',
    rol: 'Rotate left.',
    ror: 'Rotate right.',
    sad2: 'Sum of absolute differences of byte pairs.',
    sada2: 'Sum of absolute differences, added to the accumulator.',
    sel: 'Select: src0 where the predicate is true, src1 elsewhere. With a condition: min or max.',
    send: 'Send a message to a shared function: memory, sampler, gateway. Its reply is written to dst later.',
    sendc: 'Send, once the thread this one depends on has finished.',
    sends: 'Send with the payload in two separate register ranges.',
    sendsc: 'Split send, once the thread this one depends on has finished.',
    shl: 'Shift left.',
    shr: 'Logical shift right: zeros fill in from the left.',
    smov: 'Scattered move.',
    srnd: 'Stochastic rounding.',
    subb: 'Subtract and leave the borrow out of each lane in the accumulator.',
    sync: 'Wait for earlier instructions, a barrier or a dependency.',
    wait: 'Wait for a notification, e.g. that every thread reached the barrier.',
    while: 'End of a loop: back to its start while any lane goes on.',
    xor: 'Bitwise exclusive or.',
};

const FUNCTIONS = {
    inv: '1 / src0', log: 'base-2 logarithm', exp: '2 to the power src0', sqt: 'square root',
    rsqt: '1 / square root', pow: 'src0 to the power |src1|', fdiv: 'src0 / src1', sin: 'sine', cos: 'cosine',
    idiv: 'integer quotient and remainder', iqot: 'integer quotient', irem: 'integer remainder',
    invm: '1 / src0, a step of exact division', rsqtm: '1 / square root, a step of exact square root',
    nop: 'no condition but the dependencies', allrd: 'all reads of registers by sends',
    allwr: 'all writes of registers by sends', bar: 'a barrier', fence: 'a memory fence', host: 'the host',
    dc0: 'data cache, port 0', dc1: 'data cache, port 1', dcro: 'read-only data cache', slm: 'shared local memory',
    ugm: 'untyped global memory', ugml: 'untyped global memory, low bandwidth', tgm: 'typed global memory',
    smpl: 'sampler', gtwy: 'message gateway', ts: 'thread spawner', urb: 'unified return buffer',
    rc: 'render cache', cre: 'check and refinement engine', vme: 'video motion estimation', btd: 'bindless thread dispatch',
};

const OPTIONS = {
    Compacted: 'Encoded in 8 bytes instead of 16.',
    Switch: 'Let another thread run after this instruction.',
    Atomic: 'No switch to another thread after this instruction.',
    EOT: 'End of thread: the last message it sends.',
    NoDDClr: 'Do not clear the destination dependency: more parts of it follow.',
    NoDDChk: 'Do not check the destination dependency.',
    AccWrEn: 'The result is also written to the accumulator.',
    NoSrcDepSet: 'No dependency is set on the sources of this send.',
    NoPreempt: 'No preemption here.',
    BranchCtrl: 'All lanes jump together where they can.',
    Serialize: 'Wait until it is done before the next instruction issues.',
    NoMask: 'All lanes run, active or not.',
};

const REGISTERS = {
    null: 'Null register: reads as anything, writes vanish.',
    acc: 'Accumulator.', f: 'Flag register: a bit per lane, from compares.', a: 'Address register, for indirect access.',
    ce: 'Channel enable: which lanes are active.', sr: 'State register: thread and slot identification, dispatch mask.',
    cr: 'Control register: rounding, denormals, exceptions.', n: 'Notification register: barriers.',
    sp: 'Stack pointer.', ip: 'Instruction pointer.', tm: 'Timestamp register.', dbg: 'Debug register.',
    tdr: 'Thread dependency register.', mme: 'Extended-precision exponent registers for exact math.', s: 'Scalar register.',
    fc: 'Flow control registers.', mask: 'Mask register.', msg: 'Message register.',
};

function opcodeTip(mnemonic) {
    const [name, ...more] = mnemonic.split('.');
    const says = OPCODES[name];
    if (!says)
        return mnemonic;
    const detail = more.map(part => FUNCTIONS[part]).filter(Boolean);
    return `${mnemonic}\n${says}${detail.length ? ` Here: ${detail.join(', ')}.` : ''}`;
}

function predicateTip(text) {
    if (/^\((eq|ne|lt|le|gt|ge|ze|nz|ov|un|sat)\)$/.test(text) || /^\([a-z]+\)f/.test(text))
        return `${text}\nCondition: each lane's outcome goes to the flag register.`;
    const parts = [];
    if (/W/.test(text))
        parts.push('W: all lanes run, whatever the execution mask.');
    const flag = /~?f\d+(\.\d+)?(\.\w+)?/.exec(text);
    if (flag)
        parts.push(`Runs in the lanes where ${flag[0][0] === '~' ? flag[0].slice(1) + ' is clear' : flag[0] + ' is set'}.`);
    return [text, ...parts].join('\n');
}

function execTip(text) {
    const m = /\((\d+)(?:\|M(\d+))?\)/.exec(text);
    if (!m)
        return text;
    const size = Number(m[1]), first = Number(m[2] || 0);
    return `${text}\n${size === 1 ? 'One lane' : size + ' lanes'}, execution mask bits ${first} to ${first + size - 1}.`;
}

function optionTip(text) {
    const lines = text.replace(/[{}]/g, '').split(/\s*,\s*/).map(word => {
        if (OPTIONS[word])
            return `${word}: ${OPTIONS[word]}`;
        let m = /^([AFILM]?)@(\d+)$/.exec(word);
        if (m)
            return `${word}: waits for the instruction ${m[2]} before it${m[1] ? ` in pipe ${m[1]}` : ''}.`;
        m = /^\$(\d+)(\.(dst|src))?$/.exec(word);
        if (m)
            return m[2] ? `${word}: waits until token ${m[1]} has ${m[3] === 'dst' ? 'written its destination' : 'read its sources'}.`
                : `${word}: takes token ${m[1]}, for others to wait on.`;
        return word;
    });
    return lines.join('\n');
}

function registerTip(text) {
    const grf = /^r(\d+)/.exec(text);
    if (grf)
        return `${text}\nGeneral register ${grf[1]}.`;
    const name = /^[a-z]+/.exec(text);
    return REGISTERS[name && name[0]] ? `${text}\n${REGISTERS[name[0]]}` : text;
}

const TYPES = {
    ub: 'unsigned 8-bit', b: 'signed 8-bit', uw: 'unsigned 16-bit', w: 'signed 16-bit', ud: 'unsigned 32-bit',
    d: 'signed 32-bit', uq: 'unsigned 64-bit', q: 'signed 64-bit', hf: '16-bit float', f: '32-bit float',
    df: '64-bit float', bf: 'bfloat16', v: 'packed signed 4-bit', uv: 'packed unsigned 4-bit', vf: 'packed 8-bit float',
};
