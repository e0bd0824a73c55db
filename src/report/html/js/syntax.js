/*
 * Text to coloured tokens: [text, class] pairs whose texts joined are the input. Two languages:
 * OpenCL C and C++, and the machine code as IGA prints it.
 */

const C_KEYWORDS = new Set(('if else for while do switch case default break continue return goto sizeof typedef ' +
    'struct union enum static const volatile restrict inline extern register auto template typename class ' +
    'namespace using public private protected virtual operator new delete this constexpr nullptr true false ' +
    '__kernel kernel __global global __local local __constant constant __private __generic generic ' +
    '__attribute__ __read_only read_only __write_only write_only __read_write read_write').split(' '));
const C_TYPES = /^(void|bool|(u?(char|short|int|long)|float|double|half)(2|3|4|8|16)?|unsigned|signed|size_t|ptrdiff_t|u?intptr_t|u?int(8|16|32|64)_t|image[123]d\w*_t|sampler_t|event_t|atomic_\w+|[a-z]\w*_t)$/;
const C_TOKEN = /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|((?:0[xX][\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:[pP][+-]?\d+)?)[uUlLfFhH]*)|([A-Za-z_]\w*)|(\s+)|([^\sA-Za-z_0-9"'/]+|.)/g;

/* inComment: the line starts within a comment. Long lines are not worth the time. */
function highlightC(text, inComment) {
    if (text.length > 2000)
        return [[text, '']];
    const tokens = [];
    let from = 0;
    if (inComment) {
        const end = text.indexOf('*/');
        from = end < 0 ? text.length : end + 2;
        tokens.push([text.slice(0, from), 'com']);
    }
    const directive = from === 0 && /^\s*#\s*\w+/.exec(text);
    if (directive) {
        from = directive[0].length;
        tokens.push([directive[0], 'pre']);
    }
    C_TOKEN.lastIndex = from;
    for (let m; (m = C_TOKEN.exec(text));) {
        const [all, comment, quoted, numeric, word] = m;
        let kind = comment ? 'com' : quoted ? 'str' : numeric ? 'num' : '';
        if (word)
            kind = C_KEYWORDS.has(word) ? 'kw' : C_TYPES.test(word) ? 'type'
                : text[C_TOKEN.lastIndex] === '(' ? 'fn' : '';
        else if (directive && all[0] === '<')
            kind = 'str';
        tokens.push([all, kind]);
    }
    return tokens;
}

/* For each line whether it starts within a comment: one pass over a file. */
function commentStates(lines) {
    const states = new Uint8Array(lines.length);
    let inside = false;
    const mark = /\/\/|\/\*|\*\/|"(?:[^"\\]|\\.)*"/g;
    for (let i = 0; i < lines.length; i++) {
        states[i] = inside ? 1 : 0;
        if (lines[i].length > 2000)
            continue;
        mark.lastIndex = 0;
        for (let m; (m = mark.exec(lines[i]));) {
            if (!inside && m[0] === '//')
                break;
            if (m[0] === '/*')
                inside = true;
            else if (m[0] === '*/')
                inside = false;
            else if (inside && m[0][0] === '"')
                mark.lastIndex = m.index + 1;
        }
    }
    return states;
}

/*
 * An instruction's text in its parts: predicate, mnemonic, execution size, flag modifier, operands,
 * options, comment. IGA pads them to columns wide enough for anything; here they are padded to
 * what is usual, so that two panes fit side by side.
 */
const ASM_PART = /\s*(\/\/.*|\{[^}]*\}?|\((?:[^()]|\([^)]*\))*\)[^\s{}]*|[^\s{}]+)/y;
const DST_WIDTH = 13, SRC_WIDTH = 17, SEND_WIDTH = 8, FLAG_WIDTH = 9, OP_WIDTH = 6;

function splitAsm(text) {
    const parts = [];
    ASM_PART.lastIndex = 0;
    for (let m; ASM_PART.lastIndex < text.length && (m = ASM_PART.exec(text));)
        parts.push(m[1]);
    return parts;
}

/* "(16|M0)", "(8)": an execution size. */
const EXEC = /^\(\d+(\|M\d+)?\)$/;
const FLAG_MODIFIER = /^\((eq|ne|lt|le|gt|ge|ze|nz|ov|un|u|o|r|l|z|e|g|sat)\)/;

/* [text, class, column the next part is padded to] */
function partsOfAsm(text, opWidth = OP_WIDTH) {
    const parts = splitAsm(text), out = [];
    let i = 0, column = 0, operands = 0;
    const take = (kind, width, has) => {
        column += width;
        out.push(has ? [parts[i++], kind, column] : ['', '', column]);
    };
    take('pred', 5, parts[i] && /^\((W|~?f\d)/.test(parts[i]));
    const send = parts[i] && /^sends?c?\b/.test(parts[i]);
    take('op', opWidth, parts[i]);
    take('exec', 9, parts[i] && EXEC.test(parts[i]));
    for (; i < parts.length; i++) {
        const part = parts[i], flag = FLAG_MODIFIER.test(part);
        if (part.startsWith('//') || part[0] === '{') {
            out.push([part, part[0] === '{' ? 'opt' : 'com', 0]);
            continue;
        }
        column += flag ? FLAG_WIDTH : send ? SEND_WIDTH : operands++ ? SRC_WIDTH : DST_WIDTH;
        out.push([part, flag ? 'pred' : 'operand', column]);
    }
    return out;
}

const OPERAND = /(L\d+|[A-Z]+_L\d+)(?=$|[\s:])|(-?\(?abs\)?|[-~])?((?:r|acc|f|a|ce|sr|cr|n|sp|tm|dbg|tdr|mme|s|ip|mask|msg|fc)\d*(?:\.\d+)?|null|ip)(?=[<:.\s\[(]|$)|(<[^>]*>)|(:[a-z]+\d?\w*)|(-?0x[\da-fA-F]+|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)|([^])/gy;

function operandTokens(text) {
    const tokens = [];
    OPERAND.lastIndex = 0;
    let plain = '';
    for (let m; OPERAND.lastIndex < text.length && (m = OPERAND.exec(text));) {
        const kind = m[1] ? 'tgt' : m[3] ? (/^r\d/.test(m[3]) ? 'reg' : 'arf') : m[4] ? 'rgn' : m[5] ? 'type' : m[6] ? 'num' : '';
        if (!kind) {
            plain += m[0];
            continue;
        }
        if (m[2])
            plain += m[2];
        if (plain) {
            tokens.push([plain, '']);
            plain = '';
        }
        tokens.push([m[2] ? m[3] : m[0], kind]);
    }
    if (plain)
        tokens.push([plain, '']);
    return tokens;
}

/*
 * Tokens of an instruction. Padding is a token of class 'pad': it is shown, but a search sees one
 * space (searchTextOfTokens).
 */
function highlightAsm(text, withComment, opWidth) {
    const tokens = [];
    let width = 0;
    const pad = spaces => {
        const last = tokens[tokens.length - 1];
        if (last && last[1] === 'pad')
            last[0] += ' '.repeat(spaces);
        else
            tokens.push([' '.repeat(spaces), 'pad']);
        width += spaces;
    };
    for (const [part, kind, next] of partsOfAsm(text, opWidth)) {
        if (kind === 'com' && !withComment)
            continue;
        if (part && tokens.length && tokens[tokens.length - 1][1] !== 'pad')
            pad(1);
        const shown = visible(part);
        if (kind === 'operand')
            tokens.push(...operandTokens(shown));
        else if (part)
            tokens.push([shown, kind]);
        width += shown.length;
        if (width < next)
            pad(next - width);
    }
    if (tokens.length && tokens[tokens.length - 1][1] === 'pad')
        tokens.pop();
    return tokens;
}

/* Tokens of a kernel's instruction as rows show it: a decoded message stands before the numbers
 * that it was decoded from, and instead of IGA's comment. */
function insnTokens(kernel, i) {
    const message = kernel.message(i);
    const tokens = highlightAsm(kernel.text(i), !message, kernel.opWidth);
    if (!message)
        return tokens;
    const text = [visible(string(message.text)), 'msg'];
    const at = tokens.findIndex(([, kind], n) => n > 4 && kind === 'num' && tokens[n - 1][1] === 'pad');
    if (at < 0)
        tokens.push(['  ', 'pad'], text);
    else
        tokens.splice(at, 0, text, ['  ', 'pad']);
    return tokens;
}

/* What a search sees: padding is one space. */
function searchTextOfTokens(tokens) {
    let text = '';
    for (const [part, kind] of tokens)
        text += kind !== 'pad' ? part : text ? ' ' : '';
    return text;
}
