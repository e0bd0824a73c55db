// SPDX-License-Identifier: MIT
// `zescope dap` against a client that is not ours: DebugClient of @vscode/debugadapter-testsupport, which
// checks what it is sent against the protocol's sequence. The application is examples/nbody.
//
// Usage: NODE_PATH=... node client.js ZESCOPE DRIVER NBODY NBODY.SPV NBODY_SOURCES MISBEHAVE FAULTY
// FAULTY: a folder of folders named as devices, with kernels.bin of kernels.cl in each.
'use strict';
const assert = require('assert');
const fs = require('fs');
const path = require('path');
const { spawn } = require('child_process');
const { DebugClient } = require('@vscode/debugadapter-testsupport');

const [zescope, driver, program, spirv, sources, misbehave, faulty] = process.argv.slice(2);
const SOURCE = path.join(sources, 'nbody.cl');
const TEXT = fs.readFileSync(SOURCE, 'utf8').split('\n');
const lineOf = (part) => TEXT.findIndex((line) => line.includes(part)) + 1;
const ADDED = lineOf('acceleration += sum_of_pulls');
const START = { program, args: [spirv, '-g -cl-opt-disable'], driver, devices: 'skl', sourcePath: [sources] };

async function session(body, server) {
    const dc = new DebugClient(zescope, 'dap', 'zescope');
    dc.defaultTimeout = 60000;
    await dc.start(server);
    try {
        await body(dc);
    } finally {
        await dc.stop();
    }
}

// Launches with the breakpoints (lines, or whole objects) and waits for the first stop.
async function launch(dc, breakpoints, more = {}) {
    const stopped = dc.waitForEvent('stopped', 60000);
    stopped.catch(() => {});
    const configured = dc.waitForEvent('initialized', 60000).then(async () => {
        await dc.setBreakpointsRequest({
            source: { path: SOURCE },
            breakpoints: breakpoints.map((b) => (typeof b === 'number' ? { line: b } : b)),
        });
        await dc.configurationDoneRequest();
    });
    await Promise.all([configured, dc.launch({ ...START, ...more })]);
    return (await stopped).body;
}

async function top(dc, threadId) {
    const stack = (await dc.stackTraceRequest({ threadId })).body.stackFrames;
    assert.ok(stack.length > 0);
    return stack[0];
}

async function scopes(dc, frame) {
    return (await dc.scopesRequest({ frameId: frame.id })).body.scopes;
}

async function children(dc, of, more = {}) {
    const reference = { variablesReference: of.variablesReference, ...more };
    return (await dc.variablesRequest(reference)).body.variables;
}

async function stepTo(dc, request, threadId, more = {}) {
    const stopped = dc.waitForEvent('stopped', 60000);
    await dc.customRequest(request, { threadId, ...more });
    return (await stopped).body;
}

const tests = {
    async 'runs to its end, with its output and exit status'(dc) {
        let output = '';
        dc.on('output', (event) => { output += event.body.category === 'stdout' ? event.body.output : ''; });
        const exited = dc.waitForEvent('exited', 60000);
        await Promise.all([dc.configurationSequence(), dc.launch(START), dc.waitForEvent('terminated', 60000)]);
        assert.strictEqual((await exited).body.exitCode, 0);
        assert.ok(output.length > 0);
    },

    async 'stops at a line, shows the variable of all lanes, steps'(dc) {
        const verified = dc.waitForEvent('breakpoint', 60000);
        const stop = await launch(dc, [ADDED]);
        assert.strictEqual(stop.reason, 'breakpoint');
        assert.strictEqual((await verified).body.breakpoint.verified, true);
        const frame = await top(dc, stop.threadId);
        assert.strictEqual(frame.line, ADDED);
        assert.strictEqual(fs.realpathSync(frame.source.path), fs.realpathSync(SOURCE));
        const found = await scopes(dc, frame);
        const names = (await children(dc, found[0])).map((v) => v.name);
        for (const name of ['me', 'lane', 'acceleration'])
            assert.ok(names.includes(name), `${name} among ${names}`);
        const table = await children(dc, found.find((s) => s.name === 'All lanes'));
        const lanes = await children(dc, table.find((v) => v.name === 'lane'));
        const thread = (await dc.threadsRequest()).body.threads.find((t) => t.id === stop.threadId);
        assert.ok(thread.name.startsWith('nbody_step'), thread.name);
        assert.ok(lanes.length >= 8);
        lanes.forEach((l, i) => assert.strictEqual(Number(l.value), Number(lanes[0].value) + i, l.value));
        const pulls = await children(dc, table.find((v) => v.name === 'acceleration'));
        assert.strictEqual(pulls.length, lanes.length);
        for (const value of pulls) /* the first tile's pulls are still to be added */
            assert.deepStrictEqual((await children(dc, value)).slice(0, 3).map((v) => Number(v.value)), [0, 0, 0]);
        const step = await stepTo(dc, 'next', stop.threadId);
        assert.strictEqual(step.reason, 'step');
        assert.notStrictEqual((await top(dc, step.threadId)).line, ADDED);
        await stepTo(dc, 'next', step.threadId, { granularity: 'instruction' });
    },

    async 'a condition on a variable holds where it stops'(dc) {
        const stop = await launch(dc, [{ line: ADDED, condition: 'me >= 100' }]);
        const frame = await top(dc, stop.threadId);
        const me = (await dc.evaluateRequest({ expression: 'me', frameId: frame.id, context: 'watch' })).body;
        assert.ok(Number(me.result) >= 100, me.result);
    },

    async 'shows code, registers and memory'(dc) {
        const stop = await launch(dc, [ADDED]);
        const frame = await top(dc, stop.threadId);
        const code = (await dc.disassembleRequest({
            memoryReference: frame.instructionPointerReference, instructionOffset: -2, instructionCount: 6,
        })).body.instructions;
        assert.strictEqual(code.length, 6);
        assert.strictEqual(code[2].address, frame.instructionPointerReference);
        assert.ok(code[2].instruction.length > 0);
        const found = await scopes(dc, frame);
        const registers = await children(dc, found.find((s) => s.name === 'Registers'));
        assert.ok(registers.length >= 128);
    },

    async 'goes back: over the barrier, to the last writer of the tile, to the beginning'(dc) {
        const WRITTEN = lineOf('tile[lane] = positions');
        const stop = await launch(dc, [ADDED]);
        await dc.setBreakpointsRequest({ source: { path: SOURCE }, breakpoints: [] });
        const capabilities = (await dc.customRequest('threads')).success;
        assert.strictEqual(capabilities, true);
        const back = await stepTo(dc, 'stepBack', stop.threadId);
        assert.strictEqual(back.reason, 'step');
        assert.strictEqual((await top(dc, back.threadId)).line, ADDED - 1);
        const before = await stepTo(dc, 'stepBack', back.threadId);
        const frame = await top(dc, before.threadId);
        assert.strictEqual(frame.line, WRITTEN);
        /* the tile's element of this work-item changes in this line, by this lane */
        const info = (await dc.customRequest('dataBreakpointInfo', { name: 'tile[lane]', frameId: frame.id })).body;
        assert.deepStrictEqual(info.accessTypes, ['write', 'read', 'readWrite']);
        const none = (await dc.customRequest('dataBreakpointInfo', { name: 'me + 1', frameId: frame.id })).body;
        assert.strictEqual(none.dataId, null);
        const set = (await dc.customRequest('setDataBreakpoints', { breakpoints: [
            { dataId: info.dataId, accessType: 'write' }, { dataId: 'nonsense' }] })).body.breakpoints;
        assert.deepStrictEqual(set.map((b) => b.verified), [true, false]);
        const changed = await stepTo(dc, 'continue', before.threadId);
        assert.strictEqual(changed.reason, 'data breakpoint');
        assert.deepStrictEqual(changed.hitBreakpointIds, [set[0].id]);
        assert.strictEqual((await top(dc, changed.threadId)).line, WRITTEN + 1);
        assert.match(changed.text, /tile\[lane\]: \{0, 0, 0, 0\} -> \{.*\}, by item 0,0,0 of group 0,0,0 \(lane 0\)/);
        const again = await stepTo(dc, 'reverseContinue', changed.threadId);
        assert.strictEqual(again.reason, 'data breakpoint');
        const there = await top(dc, again.threadId);
        const value = (await dc.evaluateRequest({ expression: 'tile[lane].w', frameId: there.id, context: 'watch' })).body;
        assert.strictEqual(Number(value.result), 0);
        const beginning = await stepTo(dc, 'reverseContinue', again.threadId);
        assert.strictEqual(beginning.reason, 'entry');
        await assert.rejects(dc.customRequest('stepBack', { threadId: beginning.threadId }));
        await dc.customRequest('setDataBreakpoints', { breakpoints: [] });
        const ended = dc.waitForEvent('terminated', 60000);
        const exited = dc.waitForEvent('exited', 60000);
        await dc.continueRequest({ threadId: beginning.threadId });
        await ended; /* what it computes is as if nothing had been */
        assert.strictEqual((await exited).body.exitCode, 0);
    },

    async 'targets: into one function of a line, to another line and back over it'(dc) {
        const stop = await launch(dc, [ADDED]);
        await dc.setBreakpointsRequest({ source: { path: SOURCE }, breakpoints: [] });
        const frame = await top(dc, stop.threadId);
        const into = (await dc.customRequest('stepInTargets', { frameId: frame.id })).body.targets;
        assert.deepStrictEqual(into.map((t) => t.label), ['sum_of_pulls']);
        const inside = await stepTo(dc, 'stepIn', stop.threadId, { targetId: into[0].id });
        assert.strictEqual(inside.reason, 'step');
        assert.match((await top(dc, inside.threadId)).name, /^sum_of_pulls/);
        await assert.rejects(dc.customRequest('stepIn', { threadId: inside.threadId, targetId: into[0].id }));
        const out = await stepTo(dc, 'stepOut', inside.threadId);
        /* over the rest of the loop, whose values are what they were; and back across it */
        const END = lineOf('float4 velocity = velocities[me]');
        const targets = (await dc.customRequest('gotoTargets', { source: { path: SOURCE }, line: END })).body.targets;
        assert.strictEqual(targets.length, 1);
        assert.strictEqual(targets[0].line, END);
        const there = await stepTo(dc, 'goto', out.threadId, { targetId: targets[0].id });
        assert.strictEqual(there.reason, 'goto');
        const at = await top(dc, there.threadId);
        assert.strictEqual(at.line, END);
        assert.strictEqual(at.instructionPointerReference, targets[0].instructionPointerReference);
        const next = await stepTo(dc, 'next', there.threadId);
        assert.strictEqual((await top(dc, next.threadId)).line, END + 1);
        const back = await stepTo(dc, 'stepBack', next.threadId);
        assert.strictEqual((await top(dc, back.threadId)).line, END);
        const before = await stepTo(dc, 'stepBack', back.threadId);
        assert.ok((await top(dc, before.threadId)).line <= ADDED + 1);
        /* what is set is answered as it is then */
        const now = await top(dc, before.threadId);
        const set = (await dc.customRequest('setExpression', {
            expression: 'acceleration.x', value: '0.5', frameId: now.id })).body;
        assert.strictEqual(set.value, '0.5');
        const lane = (await scopes(dc, now))[0];
        const named = (await dc.setVariableRequest({
            variablesReference: lane.variablesReference, name: 'first', value: '192' })).body;
        assert.strictEqual(named.value, '192');
        /* a number at an address is watched */
        const info = (await dc.customRequest('dataBreakpointInfo', {
            name: (await dc.evaluateRequest({ expression: '&acceleration', frameId: now.id, context: 'watch' })).body.result,
            asAddress: true, bytes: 4 })).body;
        assert.match(info.dataId, /uint \*\)0x/);
        await assert.rejects(dc.customRequest('dataBreakpointInfo', { name: '0x10', asAddress: true, bytes: 3 }));
    },

    async 'code that is written: shown, executed, gone and there again'(dc) {
        const stop = await launch(dc, [ADDED]);
        const frame = await top(dc, stop.threadId);
        const disassemble = async (instructionOffset, instructionCount) => (await dc.customRequest('disassemble', {
            memoryReference: frame.instructionPointerReference, instructionOffset, instructionCount })).body.instructions;
        const before = await disassemble(0, 3);
        const bytes = (inst) => Buffer.from(inst.instructionBytes.replace(/ /g, ''), 'hex');
        /* the second becomes what the third is */
        assert.strictEqual(bytes(before[1]).length, bytes(before[2]).length);
        await dc.customRequest('writeMemory', { memoryReference: before[1].address, data: bytes(before[2]).toString('base64') });
        const after = await disassemble(0, 3);
        assert.deepStrictEqual(after.map((i) => i.instruction),
            [before[0].instruction, before[2].instruction, before[2].instruction]);
        const read = (await dc.customRequest('readMemory', { memoryReference: before[0].address, count: 32 })).body.data;
        assert.strictEqual(read, Buffer.concat([bytes(before[0]), bytes(before[2])]).toString('base64'));
        /* back to where it was not yet */
        await stepTo(dc, 'next', stop.threadId, { granularity: 'instruction' });
        const back = await stepTo(dc, 'reverseContinue', stop.threadId);
        assert.strictEqual(back.reason, 'breakpoint');
        const first = await stepTo(dc, 'stepBack', back.threadId, { granularity: 'instruction' });
        assert.strictEqual(first.reason, 'step');
        assert.deepStrictEqual((await disassemble(0, 3)).map((i) => i.instruction), before.map((i) => i.instruction));
        const ended = dc.waitForEvent('terminated', 60000), exited = dc.waitForEvent('exited', 60000);
        await dc.setBreakpointsRequest({ source: { path: SOURCE }, breakpoints: [] });
        await dc.continueRequest({ threadId: first.threadId });
        await ended; /* what it computes is right: that code is gone */
        assert.strictEqual((await exited).body.exitCode, 0);
    },

    async 'restarts, with its breakpoints'(dc) {
        const stop = await launch(dc, [ADDED]);
        const processes = dc.waitForEvent('process', 60000), again = dc.waitForEvent('stopped', 60000);
        await dc.customRequest('restart', {});
        await processes;
        const second = (await again).body;
        assert.strictEqual(second.reason, 'breakpoint');
        assert.deepStrictEqual(second.hitBreakpointIds, stop.hitBreakpointIds);
        assert.strictEqual((await top(dc, second.threadId)).line, ADDED);
        await dc.setBreakpointsRequest({ source: { path: SOURCE }, breakpoints: [] });
        const exited = dc.waitForEvent('exited', 60000);
        await dc.continueRequest({ threadId: second.threadId });
        assert.strictEqual((await exited).body.exitCode, 0);
    },

    async 'the console: commands of the debugger, completions, sources'(dc) {
        const WRITTEN = lineOf('tile[lane] = positions');
        const stop = await launch(dc, [ADDED]);
        let frame = await top(dc, stop.threadId);
        const type = async (expression) => (await dc.evaluateRequest({
            expression, frameId: frame.id, context: 'repl' })).body.result;
        const complete = async (text) => (await dc.customRequest('completions', {
            text, column: text.length + 1, frameId: frame.id })).body.targets;
        assert.strictEqual(await type('print me'), (await type('me')) + '\n');
        assert.strictEqual((await type('print here @lanes')).split('\n').length, 9);
        assert.match(await type('info threads'), /^\* thread 1, group 0,0,0 /);
        assert.match(await type('info breakpoints'), new RegExp(`nbody.cl:${ADDED}, 1 place, hit 1 time`));
        assert.match(await type('help'), /who-wrote/);
        assert.ok(!(await type('help')).includes('quit'));
        assert.match(await type('who-wrote tile[11]'), new RegExp(`by item 11,0,0 of group 0,0,0 \\(lane 3\\)\n.*:${WRITTEN}\n`));
        for (const [line, says] of [['thread abc', /a number was expected/], ['quit', /editor/], ['run', /editor/],
            ['print nothing', /no variable nothing/], ['`nonsense', /no command/], ['step 3', /one step at a time/]])
            await assert.rejects(type(line), says, line);
        /* the lane in focus: what the client asks next is of that lane */
        await type('lane 3');
        assert.strictEqual(await type('$lane'), '3');
        const lane = (await scopes(dc, frame))[0];
        assert.match(lane.name, /^Variables of lane 3/);
        /* a breakpoint that it sets is the client's, too; a watchpoint stops what the client lets run */
        const made = dc.waitForEvent('breakpoint', 60000);
        const NEXT = lineOf('velocities[me] = velocity');
        await type(`break nbody.cl:${NEXT}`);
        const told = (await made).body;
        assert.deepStrictEqual([told.reason, told.breakpoint.line, told.breakpoint.verified], ['new', NEXT, true]);
        const kept = (await dc.setBreakpointsRequest({
            source: { path: told.breakpoint.source.path }, breakpoints: [{ line: NEXT }] })).body.breakpoints;
        assert.strictEqual(kept[0].id, told.breakpoint.id);
        const gone = dc.waitForEvent('breakpoint', 60000);
        await type(`delete ${kept[0].id}`);
        assert.deepStrictEqual([(await gone).body.reason, (await gone).body.breakpoint.id], ['removed', kept[0].id]);
        await dc.setBreakpointsRequest({ source: { path: SOURCE }, breakpoints: [] });
        /* what it makes run is told, and where it stops */
        for (const [command, reason, line] of [['next', 'step', ADDED + 1], ['reverse-next', 'step', ADDED],
            ['watch acceleration', null, 0], ['continue', 'data breakpoint', ADDED + 1], ['until 26', 'breakpoint', ADDED + 1],
            ['goto launch 1', 'entry', 0]]) {
            const events = reason ? [dc.waitForEvent('continued', 60000), dc.waitForEvent('stopped', 60000)] : [];
            const said = await type(command);
            if (!reason) {
                assert.match(said, /^Watchpoint \d+: acceleration/);
                continue;
            }
            const [, stopped] = await Promise.all(events);
            if (command !== 'until 26')
                assert.strictEqual(stopped.body.reason, reason, command);
            frame = await top(dc, stopped.body.threadId);
            if (line)
                assert.strictEqual(frame.line, line, command);
        }
        assert.deepStrictEqual((await complete('who')).map((t) => [t.label, t.start, t.length]), [['who-wrote', 1, 3]]);
        assert.deepStrictEqual((await complete('print acc')).map((t) => [t.label, t.start, t.length]), [['acceleration', 7, 3]]);
        assert.deepStrictEqual((await complete('break sum_o')).map((t) => t.label), ['sum_of_pulls']);
        assert.ok((await complete('t')).map((t) => t.label).includes('tile'));
        assert.deepStrictEqual((await complete('quit')).map((t) => t.label), []);
        const loaded = (await dc.customRequest('loadedSources')).body.sources.map((s) => s.name);
        assert.deepStrictEqual(loaded.sort(), ['gravity.h', 'nbody.cl']);
        const ended = dc.waitForEvent('terminated', 60000);
        await type('delete');
        await type('continue');
        await ended;
        assert.match(await type('info breakpoints'), /No breakpoints/);
    },

    async 'on each generation: all lanes, over the barrier, one step back, who wrote the tile'(_, more) {
        const BARRIER = lineOf('barrier(');
        for (const devices of ['tgllp', 'dg2'])
            await session(async (dc) => {
                const stop = await launch(dc, [BARRIER], { devices });
                const frame = await top(dc, stop.threadId);
                assert.strictEqual(frame.line, BARRIER, devices);
                const table = await children(dc, (await scopes(dc, frame)).find((s) => s.name === 'All lanes'));
                const pulls = await children(dc, table.find((v) => v.name === 'acceleration'));
                assert.strictEqual(pulls.length, 8, devices);
                const there = await stepTo(dc, 'next', stop.threadId);
                assert.deepStrictEqual([there.reason, there.threadId], ['step', stop.threadId], devices);
                assert.strictEqual((await top(dc, there.threadId)).line, BARRIER + 1);
                const back = await stepTo(dc, 'stepBack', there.threadId);
                const again = await top(dc, back.threadId);
                assert.strictEqual(again.line, BARRIER, devices);
                const wrote = (await dc.evaluateRequest({
                    expression: 'who-wrote tile[lane]', frameId: again.id, context: 'repl' })).body.result;
                assert.match(wrote, new RegExp(`by item 0,0,0 of group 0,0,0 \\(lane 0\\)\n.*:${BARRIER - 1}\n`), devices);
            }, more);
    },

    async 'a fault: its line, lane and variable'(_, more) {
        for (const devices of ['skl', 'tgllp', 'dg2'])
            await session(async (dc) => {
                const start = { program: misbehave, args: ['bounds'], devices, sourcePath: [],
                    env: { E2E_KERNELS: path.join(faulty, devices) } };
                const stop = await launch(dc, [], start);
                assert.strictEqual(stop.reason, 'exception', devices);
                assert.match(stop.text, /address 0x[0-9a-f]+, at \+ 4 bytes/);
                const info = (await dc.customRequest('exceptionInfo', { threadId: stop.threadId })).body;
                assert.strictEqual(info.exceptionId, 'fault');
                assert.strictEqual(info.description, stop.text);
                const frame = await top(dc, stop.threadId);
                assert.deepStrictEqual([frame.name, frame.source.name, frame.line], ['out_of_bounds', 'kernels.cl', 6], devices);
                const lane = (await scopes(dc, frame))[0];
                assert.match(lane.name, /^Variables of lane 7: item 63,0,0/, devices);
                const values = Object.fromEntries((await children(dc, lane)).map((v) => [v.name, v.value]));
                assert.deepStrictEqual([values.here, values.n], ['63', '1'], devices);
                const exited = dc.waitForEvent('exited', 60000);
                await dc.continueRequest({ threadId: stop.threadId });
                assert.strictEqual((await exited).body.exitCode, 7, devices);
            }, more);
    },

    async 'pauses, and lets go of a process'(dc) {
        const stop = await launch(dc, [ADDED]);
        await dc.setBreakpointsRequest({ source: { path: SOURCE }, breakpoints: [] });
        const ended = dc.waitForEvent('terminated', 60000);
        await dc.continueRequest({ threadId: stop.threadId });
        await ended;
    },
};

// The first port that the server tells.
function serve(words) {
    const server = spawn(zescope, ['dap', ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
    return new Promise((resolve, reject) => {
        server.on('exit', () => reject(new Error('the server ended')));
        server.stderr.on('data', (text) => {
            const port = /127\.0\.0\.1:(\d+)/.exec(text.toString());
            if (port)
                resolve([server, Number(port[1])]);
        });
    });
}

async function main() {
    let failed = 0;
    const run = async (name, body) => {
        try {
            await body();
            console.log(`ok   ${name}`);
        } catch (error) {
            failed++;
            console.log(`FAIL ${name}: ${error.stack || error}`);
        }
    };
    for (const [name, body] of Object.entries(tests))
        await run(name, () => session(body));
    const [server, port] = await serve(['--port', '0']);
    for (let i = 0; i < 2; i++)
        await run(`on a port, client ${i + 1}`, () => session(tests['a condition on a variable holds where it stops'], port));
    server.kill();
    process.exit(failed ? 1 : 0);
}

main();
