#!/usr/bin/python3
"""The HTML view in a headless Chromium.

usage: test_html.py HTML_PAGE_TOOL ZESCOPE [--sample | unittest arguments]

--sample: what every check runs: each view, both ways between the panes, and everything hostile.

With ZESCOPE_TEST_SHOTS=FOLDER, screenshots are left there.
"""
import json
import os
import subprocess
import sys
import unittest
from urllib.parse import parse_qs

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sample  # noqa: E402
from browser import Browser, write_page  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

SAMPLE = [
    'Basics', 'Linking.test_hover_previews_both_ways', 'Linking.test_click_pins_until_clicked_again', 'Linking.test_inspector',
    'Linking.test_branch_targets', 'Keyboard.test_j_k_enter', 'Keyboard.test_go_to', 'Windows.test_names',
    'Searching.test_matches_in_both_panes', 'Links.test_nonsense_is_ignored', 'Links.test_link_shows_what_it_says',
    'Counted.test_bars_percentages_and_blanks', 'Counted.test_graph', 'Columns.test_heat_and_hottest', 'Look.test_roles',
    'Opcodes', 'Hostile', 'Big.test_only_rows_in_view_exist', 'RealModule.test_source_and_code_are_linked', 'WithoutScript']
TOOL = None
ZESCOPE = None
B = None
LISTING = '/src/nbody.cl:62 __kernel void force(</script><b onclick="x()">)\n    0000  mov (8|M0) r3\n'


def setUpModule():
    global B
    B = Browser()
    for name, document in (('basic', sample.basic()), ('hostile', sample.hostile()), ('big', sample.big()),
                           ('counted', sample.module([sample.counted(), sample.loops(80), sample.loops(3000), sample.stalled(), sample.crowded()], {sample.CL: sample.NBODY, sample.H: sample.HELPERS}))):
        sample.dump(document, B.path(name + '.json'))
    with open(B.path('listing.txt'), 'wb') as f:
        f.write(LISTING.encode() + b'invalid \xff\xc3( nul \x00 bidi \xe2\x80\xae end\n')
    write_page(TOOL, B.path('basic.html'), B.path('basic.json'), 'nbody.bin', B.path('listing.txt'))
    windows = json.loads(json.dumps(sample.basic()).replace('/src/', r'C:\\src\\'))
    windows['input'] = r'C:\out\nbody.bin'
    sample.dump(windows, B.path('windows.json'))
    write_page(TOOL, B.path('windows.html'), B.path('windows.json'), 'nbody.bin', B.path('listing.txt'))
    write_page(TOOL, B.path('hostile.html'), B.path('hostile.json'), sample.ATTACKS[0], B.path('listing.txt'))
    write_page(TOOL, B.path('counted.html'), B.path('counted.json'), 'nbody.bin', B.path('listing.txt'))
    sample.dump(sample.module([sample.opcodes('ten', 10), sample.opcodes('eleven', 11)], {}), B.path('opcodes.json'))
    write_page(TOOL, B.path('opcodes.html'), B.path('opcodes.json'), 'opcodes.bin', B.path('listing.txt'))
    write_page(TOOL, B.path('big.html'), B.path('big.json'), 'big.bin', B.path('listing.txt'), 10)


def tearDownModule():
    B.close()


def row_text(pane, text):
    """A selector cannot ask for text: mark the row and select the mark."""
    found = B.run('''
        for (const n of document.querySelectorAll('[data-test-row]')) n.removeAttribute('data-test-row');
        for (const n of document.querySelectorAll('.pane.' + arguments[0] + ' .row'))
            if (n.textContent.includes(arguments[1])) { n.dataset.testRow = '1'; return true; }
        return false;''', pane, text)
    assert found, f'no row with {text!r} in {pane}'
    return '[data-test-row]'


def marked(pane, kind):
    return B.texts(f'.pane.{pane} .row.{kind}')


def fragment():
    return parse_qs(B.run('return location.hash.slice(1)'))


def wait_fragment(key, value):
    B.until(f'{key}={value} in the address, not {fragment()}', lambda: fragment().get(key) == ([value] if value is not None else None))


class View(unittest.TestCase):
    page = 'basic.html'

    def setUp(self):
        B.complaints()
        self.load()

    def load(self, link=''):
        B.open(self.page, link)
        B.until('rows', lambda: B.count('.pane .row'))
        B.away()

    def tearDown(self):
        self.assertEqual(B.complaints(), [])


class Basics(View):
    def test_kernels_and_filter(self):
        self.assertEqual(B.texts('.row.kernel .name'), ['force', 'reduce_sum', 'reduce_max', 'scan'])
        self.assertEqual(B.text('#kernel-name'), 'force')
        B.click('#kernel-filter')
        B.keys('^reduce_(s|x)')
        B.until('filtered', lambda: B.texts('.row.kernel .name') == ['reduce_sum'])
        self.assertIn('1 of 4', B.text('#kernel-count'))
        B.keys('(')  # half a pattern is no error
        B.until('none left', lambda: B.count('.row.kernel') == 0)
        B.one('#kernel-filter').clear()
        B.click('#kernel-filter')
        B.keys('max')
        B.until('filtered again', lambda: B.texts('.row.kernel .name') == ['reduce_max'])
        B.click('.row.kernel')
        B.until('chosen', lambda: B.text('#kernel-name') == 'reduce_max')
        self.assertIn('compiled without -g', B.text('.kernel-note'))
        self.assertIn('compiled without -g', B.text('.pane.source .row.note'))
        self.assertEqual(B.count('.pane.code .row.insn'), 9)
        self.assertIn('of all of them', B.text('#inspector'))
        self.assertNotIn('may be off', B.text('#inspector'))  # that is of other kernels
        wait_fragment('k', 'reduce_max')

    def test_head_tells_the_kernel(self):
        stats = dict(zip(B.texts('#stats dt'), B.texts('#stats dd')))
        self.assertEqual(stats['SIMD'], '16')
        self.assertEqual(stats['instructions'], '11')
        self.assertEqual(stats['peak GRFs'], '120 / 128')
        self.assertEqual(stats['spills'], '256 B')
        self.assertEqual(stats['sends'], '3')
        self.assertEqual(stats['device'], 'skl')
        self.assertEqual(B.count('#stats .warn'), 2)  # pressure and spills

    def test_rows_show_columns(self):
        row = B.one(row_text('code', 'math.sqt')).text
        self.assertIn('100', row)   # live registers
        self.assertIn('n/a', row)   # not counted: never 0
        self.assertEqual(B.run("return document.querySelector('.pressure.full i').style.width"), '93.8%')
        self.assertIn('untyped surface read with xyzw', B.text('.t-msg'))
        self.assertNotIn('wr:2+0', B.text('.pane.code'))  # IGA's comment gives way to the decoded message
        self.assertIn('/src/nbody.cl', B.texts('.pane.source .row.file')[0])

    def test_source_is_coloured_over_lines(self):
        comment = row_text('source', 'over two lines')
        self.assertEqual(B.text(comment + ' .t-com'), '    over two lines */')
        self.assertEqual(B.text(row_text('source', '__kernel') + ' .t-kw'), '__kernel')

    def test_requests_nothing(self):
        B.requests()
        self.load('#k=force&pin=s0:66')
        B.click('#help-button')
        urls = [u for u in B.requests() if not u.startswith(('file://' + B.path('basic.html'), 'data:', 'about:'))]
        self.assertEqual(urls, [])

    def test_policy_stops_other_scripts_and_requests(self):
        stopped = B.driver.execute_async_script('''
            const done = arguments[0], seen = new Set();
            document.addEventListener('securitypolicyviolation', e => {
                seen.add(e.effectiveDirective);
                if (seen.size === 4) done(Array.from(seen).sort());
            });
            const script = document.createElement('script');
            try { script.text = 'window.pwned = 1'; } catch (refused) { /* trusted types */ }
            script.append('window.pwned = 1');
            document.body.append(script);
            const style = document.createElement('style');
            style.textContent = 'body { color: red }';
            document.body.append(style);
            new Image().src = 'http://127.0.0.1:9/x.png';
            fetch('http://127.0.0.1:9/').catch(() => {});''')
        self.assertEqual(stopped, ['connect-src', 'img-src', 'require-trusted-types-for', 'style-src-elem'])
        self.assertFalse(B.run('return "pwned" in window'))
        B.complaints()


class Linking(View):
    def test_hover_previews_both_ways(self):
        B.point(row_text('code', 'math.sqt'))
        B.until('preview', lambda: marked('source', 'hover'))
        self.assertEqual(len(marked('source', 'hover')), 1)
        self.assertIn('return sqrt', marked('source', 'hover')[0])
        self.assertIn('dist(pos[i]', marked('source', 'hover-rel')[0])  # the call it is inlined at
        B.point(row_text('source', 'float r = dist'))
        B.until('preview of the line', lambda: len(marked('code', 'hover')) == 1)
        self.assertIn('send', marked('code', 'hover')[0])
        self.assertEqual(len(marked('code', 'hover-rel')), 4)  # what its inlined call became
        B.away()
        B.until('gone', lambda: not marked('code', 'hover') and not marked('source', 'hover'))
        self.assertNotIn('pin', fragment())

    def test_click_pins_until_clicked_again(self):
        B.click(row_text('source', 'sq(float x)'))
        B.until('pinned', lambda: len(marked('code', 'pin')) == 2)
        self.assertTrue(all('mul' in text for text in marked('code', 'pin')))
        B.away()
        self.assertEqual(len(marked('code', 'pin')), 2)
        self.assertEqual(B.one('.pane.source .row.pin').get_attribute('aria-selected'), 'true')
        wait_fragment('pin', 's1:1')
        B.click(row_text('code', 'math.sqt'))
        B.until('pinned elsewhere', lambda: 'return sqrt' in marked('source', 'pin')[0])
        B.click(row_text('code', 'math.sqt'))
        B.until('unpinned', lambda: not marked('source', 'pin'))
        wait_fragment('pin', None)

    def test_minimap_marks(self):
        B.click(row_text('source', 'sq(float x)'))
        B.until('marks', lambda: B.one('.code .minimap').get_attribute('data-marks') == '2')
        self.assertEqual(B.one('.source .minimap').get_attribute('data-marks'), '1')
        self.assertGreater(self.pin_pixels('.code'), 0)
        self.assertGreater(self.pin_pixels('.source'), 0)
        B.keys(Keys.ESCAPE)
        B.away()
        B.until('no marks', lambda: B.one('.code .minimap').get_attribute('data-marks') == '0')
        self.assertEqual(self.pin_pixels('.code'), 0)

    @staticmethod
    def pin_pixels(pane):
        return B.run('''
            const c = document.querySelector(arguments[0] + ' .minimap'), x = c.getContext('2d');
            const probe = document.getElementById('probe'); probe.style.color = 'var(--pin-strong)';
            const [r, g, b] = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
            const d = x.getImageData(0, 0, c.width, c.height).data; let n = 0;
            for (let i = 0; i < d.length; i += 4) n += d[i] === r && d[i + 1] === g && d[i + 2] === b ? 1 : 0;
            return n;''', pane)

    def test_inline_stack(self):
        B.click(row_text('code', 'r41.0'))
        B.until('crumbs', lambda: B.count('.crumb') == 3)
        self.assertEqual(B.texts('.crumb'), ['forcenbody.cl:66', 'distcommon.h:4', 'sqcommon.h:1'])
        B.click('.crumb')
        B.until('gone to the call', lambda: 'dist(pos[i]' in (marked('source', 'pin') or [''])[0])

    def test_inspector(self):
        B.click(row_text('code', 'send'))
        B.until('facts', lambda: 'untyped surface read' in B.text('#inspector'))
        facts = dict(zip(B.texts('#inspector dt'), B.texts('#inspector dd')))
        self.assertEqual(facts['message'], 'untyped surface read with xyzw')
        self.assertEqual(facts['bytes'], 'reads 512')
        self.assertEqual(facts['surface'], 'bti 0')
        self.assertEqual(facts['live'], '60 of 128 registers')
        self.assertEqual(facts['float r'], 'lane i: r39.0:f + i')
        self.assertIn('in a loop', facts['block'])
        self.assertIn('Send a message', B.text('.says'))
        B.click(row_text('source', 'float4 d = a - b'))
        B.until('line facts', lambda: 'common.h:3' in B.text('#inspector'))
        self.assertIn('6\u2009400 times', B.text('#inspector'))

    def test_branch_targets(self):
        link = row_text('code', 'W&f1.0') + ' a.goto-link'
        self.assertEqual(B.text(link), 'L0128')
        B.click(link)
        B.until('at the target', lambda: 'sends' in (marked('code', 'pin') or [''])[0])
        B.click(row_text('code', 'L0040:') + ' a.goto-link')
        B.until('at the branch', lambda: 'W&f0.0' in marked('code', 'pin')[0])
        B.keys('b')
        B.until('followed', lambda: 'r104' in marked('code', 'pin')[0])

    def test_tooltips(self):
        tips = {'math.sqt': '.t-op', '(16|M0)': '.t-exec', 'Compacted': '.t-opt', 'W&f1.0': '.t-pred'}
        says = {'.t-op': 'square root', '.t-exec': '16 lanes', '.t-opt': '8 bytes', '.t-pred': 'f1.0 is set'}
        for text, token in tips.items():
            B.away()
            B.until('no tip', lambda: B.run("return document.getElementById('tip').hidden"))
            row = row_text('code', text) + ' ' + token
            B.run("document.querySelector(arguments[0]).scrollIntoView({inline: 'center', block: 'nearest'})", row)
            B.driver.execute_async_script('requestAnimationFrame(() => requestAnimationFrame(arguments[0]))')
            B.point(row)
            B.until(f'tip of {text}', lambda: says[token] in B.text('#tip') and not B.run("return document.getElementById('tip').hidden"))

    def test_out_of_view_rows_are_counted(self):
        B.size(1280, 460)
        try:
            self.load('#k=force&y=9')
            B.click(row_text('source', 'int i = get'))
            self.load('#k=force&pin=o90&y=0&ys=1')
            B.until('below', lambda: '1' in (B.text('.code .edge:not([hidden])') or ''))
            B.click('.code .edge:not([hidden])')
            B.until('in view', lambda: B.count('.code .edge:not([hidden])') == 0)
        finally:
            B.size(1280, 800)


class Keyboard(View):
    def test_j_k_enter(self):
        B.keys('j')
        self.assertIn('mov', B.text('.code .row.cursor'))
        B.keys('j')
        self.assertIn('add', B.text('.code .row.cursor'))
        B.until('preview', lambda: 'get_global_id' in (marked('source', 'hover') or [''])[0])
        B.keys('k')
        self.assertIn('mov', B.text('.code .row.cursor'))
        B.keys(Keys.ENTER)
        self.assertEqual(len(marked('code', 'pin')), 1)
        B.keys('h', 'j')
        self.assertEqual(B.count('.source .row.cursor'), 1)
        self.assertEqual(B.run("return document.activeElement.getAttribute('aria-activedescendant')"), B.one('.source .row.cursor').get_attribute('id'))
        B.keys(Keys.ESCAPE)
        self.assertEqual(B.count('.row.pin'), 0)

    def test_brackets_change_the_kernel(self):
        for key, name in ((']', 'reduce_sum'), (']', 'reduce_max'), ('[', 'reduce_sum'), ('[', 'force'), ('[', 'scan')):
            B.keys(key)
            self.assertEqual(B.text('#kernel-name'), name)

    def test_go_to(self):
        for typed, check in (('0x28', 'r104'), ('L128', 'sends'), ('0x1d', 'jmpi')):
            B.keys('g')
            B.keys(typed, Keys.ENTER)
            B.until(typed, lambda: check in (marked('code', 'pin') or [''])[0])
        B.keys('g')
        B.keys('common.h:3', Keys.ENTER)
        B.until('line', lambda: 'float4 d' in (marked('source', 'pin') or [''])[0])
        B.keys('g')
        B.keys('30', Keys.ENTER)  # within a fold: it opens
        B.until('folded line', lambda: '// line 30' in (marked('source', 'pin') or [''])[0])
        B.keys('g')
        B.keys('0x9999', Keys.ENTER)
        B.until('note', lambda: 'the code ends' in B.text('#goto-note'))
        B.keys(Keys.ESCAPE)
        self.assertFalse(B.one('#goto').is_displayed())

    def test_theme(self):
        light = B.run('return getComputedStyle(document.body).backgroundColor')
        B.keys('t')
        dark = B.run('return getComputedStyle(document.body).backgroundColor')
        self.assertNotEqual(light, dark)
        wait_fragment('t', 'dark')
        B.keys('t')
        self.assertEqual(B.run('return getComputedStyle(document.body).backgroundColor'), light)
        B.scheme('dark')
        try:
            self.load()
            self.assertEqual(B.run('return getComputedStyle(document.body).backgroundColor'), dark)
            B.keys('t')
            self.assertEqual(B.run('return getComputedStyle(document.body).backgroundColor'), light)
        finally:
            B.scheme('light')

    def test_help(self):
        B.keys('?')
        self.assertTrue(B.one('#help').is_displayed())
        shown = set(B.texts('#help kbd'))
        self.assertLessEqual(set('jknpg[]t?/'), shown)
        B.shot('help')
        B.keys(Keys.ESCAPE)
        self.assertFalse(B.one('#help').is_displayed())
        B.keys('?', '?')
        self.assertFalse(B.one('#help').is_displayed())

    def test_views(self):
        B.keys('v')
        B.until('by source', lambda: B.one('.pane.mixed').is_displayed())
        rows = B.texts('.pane.mixed .row')
        call = next(n for n, text in enumerate(rows) if 'float r = dist' in text)
        self.assertIn('r104', rows[call + 1])
        self.assertEqual(sum('get_global_id' in text for text in rows), 1)
        self.assertEqual(B.count('.pane.mixed .row.insn'), 11)
        wait_fragment('v', 'source')
        B.keys('v')
        wait_fragment('v', 'address')
        offsets = [int(t, 16) for t in B.texts('.pane.mixed .row.insn .c-offset')]
        self.assertEqual(offsets, sorted(offsets))
        self.assertEqual(len(offsets), 11)
        rows = B.texts('.pane.mixed .row')
        self.assertEqual(sum('for (int j' in text for text in rows), 2)  # once for each stretch of its code
        B.click(row_text('mixed', 'math.sqt'))
        B.until('line and instruction', lambda: len(marked('mixed', 'pin')) == 2)
        B.click('[data-view=side][role=radio]')
        B.until('side by side, pin kept', lambda: len(marked('code', 'pin')) == 1)


class Windows(View):
    """A module that was built there: debug info whose paths have backslashes."""
    page = 'windows.html'

    def test_names(self):
        self.assertEqual(B.text('#module-name'), 'nbody.bin')
        self.assertEqual(B.text('.row.file .file-name b'), 'nbody.cl')
        self.assertEqual(B.text('.row.file .file-name .dir'), 'C:\\src\\')

    def test_go_to(self):
        for typed in ('common.h:3', r'SRC\common.h:3', 'c:/src/common.h:3'):
            B.keys('g')
            B.keys(typed, Keys.ENTER)
            B.until(typed, lambda: 'float4 d' in (marked('source', 'pin') or [''])[0])
            B.keys(Keys.ESCAPE)


class Searching(View):
    def find(self, text):
        B.keys('/')
        B.keys(text)

    def test_matches_in_both_panes(self):
        self.find('sqr?t')
        B.until('counted', lambda: B.text('#find-count') == '1 of 2')
        self.assertEqual(B.texts('mark'), ['sqrt', 'sqt'])
        self.assertEqual(B.one('.code .minimap').get_attribute('data-hits'), '1')
        B.keys(Keys.ESCAPE, 'n')
        self.assertEqual(B.text('#find-count'), '2 of 2')
        self.assertEqual(B.text('.row.at mark'), 'sqt')
        B.keys('p')
        self.assertEqual(B.text('.row.at mark'), 'sqrt')
        wait_fragment('q', 'sqr?t')

    def test_match_over_tokens(self):
        self.find(r'mul \(16\|M0\) r39')  # as read, whatever the padding
        B.until('counted', lambda: B.text('#find-count') == '1 of 1')
        self.assertEqual(''.join(B.texts('mark')), 'mul(16|M0)r39')

    def test_case(self):
        self.find('FOR')
        B.until('capitals are minded', lambda: B.text('#find-count') == 'no match')
        B.one('#find').clear()
        B.click('#find')
        B.keys('fOrce'.lower())
        B.until('small letters match', lambda: B.text('#find-count') == '1 of 1')

    def test_invalid_pattern_says_so(self):
        self.find('r(1')
        B.until('said', lambda: 'Unterminated group' in B.text('#find-count'))
        self.assertEqual(B.one('#find').get_attribute('aria-invalid'), 'true')
        B.keys(')')
        B.until('mended', lambda: B.one('#find').get_attribute('aria-invalid') == 'false')

    def test_match_in_a_fold_opens_it(self):
        self.find('// line 40')
        B.until('found', lambda: B.text('#find-count') == '1 of 1')
        B.keys(Keys.ENTER)
        B.until('opened', lambda: '// line 40' in B.text('.pane.source'))
        B.until('marked', lambda: B.texts('mark') == ['// line 40'])

    def test_empty_matches_end(self):
        self.find('x*')
        B.until('searched', lambda: B.text('#find-count') not in ('', '\u2026'))


class Links(View):
    STATE = '#k=force&v=source&pin=o48&q=mul&cols=offset,size,x-executions&heat=x-executions&t=dark&nav=0&fold=0'

    def looks(self):
        return B.run('''
            const text = s => Array.from(document.querySelectorAll(s), n => n.textContent);
            const shown = n => n.offsetParent !== null;
            return JSON.stringify({
                kernel: text('#kernel-name'), heads: Array.from(document.querySelectorAll('.colhead span')).filter(shown).map(n => n.textContent),
                rows: Array.from(document.querySelectorAll('.pane .row')).filter(shown).map(n => n.className + n.textContent),
                marks: text('mark'), found: text('#find-count'), theme: document.documentElement.dataset.theme,
                tops: Array.from(document.querySelectorAll('.pane .rows')).filter(shown).map(n => n.scrollTop),
                nav: document.getElementById('nav').offsetParent !== null, view: text('[role=radio][aria-checked=true]')});''')

    def test_round_trip_in_a_fresh_tab(self):
        B.keys('v')
        B.click(row_text('mixed', 'math.sqt'))
        B.keys('/')
        B.keys('mul')
        B.until('searched', lambda: '2' in B.text('#find-count'))
        B.keys(Keys.ESCAPE, 'n', 'n', 't', 'm', 'c')
        B.click('input[value=size]')
        B.click('input[value=live]')
        B.click('input[name=heat][value=x-executions]')
        B.keys(Keys.ESCAPE)
        B.away()
        wait_fragment('heat', 'x-executions')
        link, here = B.run('return location.hash'), None
        B.run('document.activeElement.blur()')
        self.load(link)
        here = self.looks()
        first = B.driver.current_window_handle
        B.driver.switch_to.new_window('tab')
        try:
            B.size(1280, 800)
            B.scheme('light')
            self.load(link)
            self.assertEqual(self.looks(), here)
            self.assertEqual(B.run('return location.hash'), link)
        finally:
            B.driver.close()
            B.driver.switch_to.window(first)
        self.assertIn('"theme":"dark"', here)
        self.assertIn('"nav":false', here)
        self.assertIn('Size', here)

    def test_link_shows_what_it_says(self):
        self.load(self.STATE)
        B.until('marks', lambda: B.count('mark') == 2)
        self.assertEqual(B.texts('.pane.mixed .colhead span'), ['Offset', 'Size', 'executions', 'Instruction'])
        self.assertIn('sq(float x)', marked('mixed', 'pin')[0])
        self.assertIn('mul', marked('mixed', 'pin')[1])
        self.assertEqual(B.run('return document.documentElement.dataset.theme'), 'dark')
        self.assertFalse(B.one('#nav').is_displayed())
        self.assertEqual(B.count('.row.gap'), 0)

    def test_address_can_be_changed_by_hand(self):
        B.run("location.hash = '#k=scan&t=dark'")
        B.until('followed', lambda: B.text('#kernel-name') == 'scan')

    def test_nonsense_is_ignored(self):
        for link in ('#k=nope&pin=zz&v=9&cols=,,x&heat=y&w=abc&y=-5&ys=1e99&open=1:2,x&q=%', '#%%%', '#pin=s99:1&kn=77', '#pin=offffffffffff&d=none'):
            self.load(link)
            self.assertEqual(B.text('#kernel-name'), 'force')


class Counted(View):
    """Columns of counts: a bar with a percentage, blanks for zeros, the rest in the chooser."""
    page = 'counted.html'

    def test_two_columns_are_shown_and_the_source_can_be_read(self):
        counts = lambda: [h for h in B.texts('.pane.source .colhead span') if h in ('share', 'lanes', 'executions')]
        self.assertEqual(counts(), ['share'])  # the text of lines needs the room of the other one
        try:
            B.size(1600, 800)
            B.until('both', lambda: counts() == ['share', 'lanes'])
        finally:
            B.size(1280, 800)
        B.until('one', lambda: counts() == ['share'])
        left = B.run("return document.querySelector('.pane.source .row.line .c-text').getBoundingClientRect().left - document.querySelector('.pane.source').getBoundingClientRect().left")
        width = B.run("return document.querySelector('.pane.source').clientWidth")
        self.assertLess(left, width * 0.55)
        B.shot('counted')

    def test_bars_percentages_and_blanks(self):
        cells = lambda text: B.run('return Array.from(document.querySelector(arguments[0])?.querySelectorAll(".c-dyn") ?? [], n => n.textContent)', row_text('code', text))
        total = 3 * 64 + 4 * 6400 + 6400 + 64
        self.assertEqual(cells('r104'), [f'{640000 / total:.1f}%', '100%'])
        self.assertEqual(cells('math'), ['', ''])         # never executed: blanks
        self.assertEqual(cells('r3.0'), ['0.2%', '100%'])
        most = B.run("return Array.from(document.querySelectorAll('.pane.code .heatbar i'), n => n.style.width)")
        self.assertEqual((most[0], max(most, key=lambda w: float(w[:-1]))), ('2%', '100%'))
        # what a block's instructions have in common is drawn once, and told by all
        same = B.run("return Array.from(document.querySelectorAll('.pane.code .c-dyn.same'), n => [n.textContent, n.dataset.tip])")
        self.assertTrue(same and all(text == '' and tip.endswith(', as above') for text, tip in same), same)

    def test_what_stalls_are_made_of(self):
        """The tip of a share lists the reasons, the most first; heat can be by any of them."""
        self.load('#k=stalled&v=side')
        tips = B.run('return Array.from(document.querySelectorAll(".pane.code .c-dyn.heated"), n => n.dataset.tip)')
        self.assertEqual([t.split('\n')[1:] for t in tips[:3]], [['100.0% Active'], ['75.0% SbidStall', '25.0% Active'], ['100.0% Active']])
        lines = B.run('return Array.from(document.querySelectorAll(".pane.source .c-dyn.heated"), n => n.dataset.tip)')
        self.assertTrue(any('% SbidStall\n' in t for t in lines), lines)
        B.keys('c')
        B.click('input[name=heat][value=x-SbidStall]')
        B.until('the most by it', lambda: fragment().get('heat') == ['x-SbidStall'])

    def test_columns_leave_room_for_the_text(self):
        """What nobody chose gives way, the bar last; a wider window shows it, and what was chosen stays."""
        room = """const pane = document.querySelector(arguments[0] + ' .rows');
            return (pane.getBoundingClientRect().left + pane.clientWidth - pane.querySelector('.colhead .c-text').getBoundingClientRect().left) / 7.3"""
        heads = lambda pane: B.texts(f'.pane.{pane} .colhead span')
        self.load('#k=crowded&v=side')
        for pane, least in ('code', 33), ('source', 23):
            B.until(f'{least} characters of {pane}', lambda: B.run(room, '.pane.' + pane) > least)
            self.assertIn('share', heads(pane))
            self.assertNotIn('footprint', heads(pane))
        self.assertNotIn('Source', heads('code'))
        try:
            B.size(2600, 800)
            B.until('more', lambda: 'footprint' in heads('code'))
            self.assertEqual(heads('code'), ['Offset', 'Source', 'Live', 'share', 'lanes', 'messages', 'memtrace.lanes', 'bytes', 'sectors', 'lines',
                                             'footprint', 'Instruction'])
        finally:
            B.size(1280, 800)
        B.until('fewer', lambda: 'footprint' not in heads('code'))
        B.keys('c')
        self.assertFalse(B.one('input[name=column][value="x-memtrace.footprint"]').is_selected())
        B.click('input[name=column][value="x-memtrace.footprint"]')
        B.until('chosen', lambda: 'footprint' in heads('code'))

    def test_a_line_has_the_weighted_mean(self):
        # the two mul of sq(): 100 % and 100 %, the send 100 %, two jmpi of one line 100 % and 25 %
        cells = lambda: B.run('return Array.from(document.querySelector(arguments[0])?.querySelectorAll(".c-dyn") ?? [], n => n.textContent)', row_text('source', 'for ('))
        try:
            B.size(1600, 800)
            B.until('both columns', lambda: len(cells()) == 2)
            line = cells()
        finally:
            B.size(1280, 800)
        self.assertEqual(line[1], f'{(100 * 64 + 25 * 6400) / 6464:.0f}%')

    def test_heat_is_on_and_can_be_taken_away(self):
        self.assertTrue(B.one('#hottest').is_displayed())
        B.keys('c')
        B.click('input[name=heat][value=""]')
        B.until('none', lambda: not B.one('#hottest').is_displayed())
        wait_fragment('heat', 'none')
        B.keys(Keys.ESCAPE)
        self.load(B.run('return location.hash'))
        self.assertFalse(B.one('#hottest').is_displayed())

    def test_graph(self):
        self.load('#k=force&v=graph')
        self.assertEqual(B.count('.block'), 3)
        text = B.texts('.block text')
        self.assertIn('B1  0x28', text)
        self.assertTrue(any(t.startswith('share ') and '99' in t for t in text), text)
        # blocks below each other in the order of their layers, an edge back to itself
        tops = B.run("return Array.from(document.querySelectorAll('.block'), n => n.getBoundingClientRect().top)")
        self.assertEqual(tops, sorted(tops))
        self.assertEqual(B.count('path.edge.back:not(.tip-of)'), 1)
        self.assertEqual(B.count('path.edge:not(.tip-of)'), 4)
        self.assertEqual(B.count('path.edge.tip-of'), 4)
        B.click('.block[data-block="1"]')
        B.until('pinned', lambda: 'pin' in B.run("return document.querySelector('.block[data-block=\"1\"]').getAttribute('class')").split())
        wait_fragment('pin', 'o28')
        self.assertIn('r104', marked('code', 'pin')[0])
        B.shot('graph')

    def test_large_graphs(self):
        self.load('#k=loops&kn=0&v=graph')
        self.assertEqual(B.count('.block'), 80)
        boxes = B.run("return Array.from(document.querySelectorAll('.block'), n => { const r = n.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })")
        for a in boxes:  # no two overlap
            self.assertEqual([b for b in boxes if b is not a and b[0] < a[2] - 1 and a[0] < b[2] - 1 and b[1] < a[3] - 1 and a[1] < b[3] - 1], [])
        self.load('#k=loops&kn=1&v=graph')
        self.assertIn('Too large', B.text('.graph-host'))


class Columns(View):
    def test_chooser(self):
        self.assertIn('Live', B.texts('.pane.code .colhead span'))
        B.click('#columns-button')
        B.shot('columns')
        B.click('input[name=column][value=live]')
        B.until('gone', lambda: 'Live' not in B.texts('.pane.code .colhead span'))
        B.click('input[name=column][value=block]')
        B.until('there', lambda: 'Block' in B.texts('.pane.code .colhead span'))
        self.assertIn('B1', B.text(row_text('code', 'math.sqt')))
        B.away()
        B.click('#kernel-name')
        self.assertFalse(B.one('#columns').is_displayed())

    def test_heat_and_hottest(self):
        self.assertFalse(B.one('#hottest').is_displayed())
        B.keys('c')
        B.click('input[name=heat][value=x-executions]')
        B.keys(Keys.ESCAPE)
        self.assertTrue(B.run('return document.activeElement.closest(".rows") !== null'))
        hot = B.run("return Array.from(document.querySelectorAll('.pane.code .hot'), n => parseInt(n.style.getPropertyValue('--hot')))")
        self.assertEqual(len(hot), 10)  # one was not collected
        self.assertEqual((min(hot), max(hot)), (15, 80))
        self.assertIn('n/a', B.text(row_text('code', 'math.sqt')))
        B.keys('x')
        B.until('hottest line', lambda: 'sq(float x)' in (marked('source', 'pin') or [''])[0])  # two instructions, 12800
        B.keys('x')
        B.until('the next', lambda: any('sq(float x)' not in row for row in marked('source', 'pin')))

    def test_folds(self):
        self.assertIn('55 lines without code', B.text('.row.gap'))
        B.click('.row.gap')
        B.until('open', lambda: B.count('.row.gap') == 0)
        self.assertIn('// line 30', B.text('.pane.source'))
        wait_fragment('open', '0:1')


class Look(View):
    """Screenshots, and that nothing is cut or laid over."""

    def shoot(self, name, link, scheme='light', size=(1280, 800)):
        B.size(*size)
        B.scheme(scheme)
        try:
            self.load(link)
            B.shot(f'{name}-{scheme}')
            wide = B.run('return [document.documentElement.scrollWidth, innerWidth, document.documentElement.scrollHeight, innerHeight]')
            self.assertLessEqual(wide[0], wide[1])
            self.assertLessEqual(wide[2], wide[3])
            for pane in ('source', 'code') if 'v=' not in link else ('mixed',):
                box = B.one(f'.pane.{pane} .rows').rect
                self.assertGreater(box['height'], 90)
                self.assertGreater(box['width'], 200)
            colours = B.run('return [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color].map(c => c.match(/\\d+/g).map(Number).reduce((a, b) => a + b))')
            self.assertGreater(abs(colours[0] - colours[1]), 400)  # readable
        finally:
            B.size(1280, 800)
            B.scheme('light')

    def test_both_schemes_and_sizes(self):
        for scheme in ('light', 'dark'):
            self.shoot('side', '#k=force&pin=o48', scheme)
            self.shoot('source', '#k=force&v=source&heat=x-executions', scheme)
        self.shoot('address', '#k=force&v=address&q=r1')
        self.shoot('narrow', '#k=force&pin=s0:66', 'dark', (480, 800))
        self.shoot('small', '#k=force', 'light', (800, 600))

    def test_rows_align(self):
        lefts = B.run("return Array.from(document.querySelectorAll('.code .row.insn .t-exec'), n => Math.round(n.getBoundingClientRect().left))")
        self.assertEqual(len(set(lefts)), 1)
        heads = B.run('''const at = s => document.querySelector(s).getBoundingClientRect();
            return [at('.code .colhead .c-text').left - at('.code .row.insn .c-text').left, at('.code .colhead .c-live').left - at('.code .row.insn .c-live').left]''')
        self.assertEqual([round(h) for h in heads], [0, 0])

    def test_roles(self):
        self.assertEqual(B.count('[role=grid]'), 3)
        self.assertEqual(B.one('.code .rows').get_attribute('aria-rowcount'), '13')  # two labels
        self.assertEqual(B.count('.code [role=row][aria-rowindex]'), 13)
        unnamed = B.run('''return Array.from(document.querySelectorAll('button, input, [role=grid], [role=listbox], canvas:not([aria-hidden])'))
            .filter(n => !n.textContent.trim() && !n.getAttribute('aria-label') && !n.labels?.length && !n.closest('[hidden]')).map(n => n.outerHTML)''')
        self.assertEqual(unnamed, [])


class Opcodes(View):
    page = 'opcodes.html'

    def test_mix_says_what_it_leaves_out(self):
        for name, end in (('ten', '1 op9'), ('eleven', '1 op9, \u2026')):
            self.load('#k=' + name)
            B.until('facts', lambda: B.text('#kernel-name') == name and 'op9' in B.text('#inspector'))
            mix = dict(zip(B.texts('#inspector dt'), B.texts('#inspector dd')))['instruction mix']
            self.assertEqual(mix, ', '.join([f'1 op{n}' for n in range(9)] + [end]))


class Hostile(View):
    page = 'hostile.html'

    def harmless(self):
        self.assertFalse(B.run('return "pwned" in window'))
        self.assertEqual(B.count('img, svg:not(#svg, .graph-picture), iframe, object, embed, [onerror], [onload], [onmouseover], [onclick]'), 0)
        self.assertEqual(B.count('script'), 4)
        self.assertEqual(B.run('return Array.from(document.querySelectorAll("a[href]")).filter(a => a.getAttribute("href") !== "#").length'), 0)

    def test_nothing_runs(self):
        self.harmless()
        names = B.texts('.row.kernel .name')
        self.assertGreaterEqual(len(names), len(sample.ATTACKS))
        self.assertEqual(names[0], sample.ATTACKS[0])
        self.assertEqual(names[6], '\u2039U+202E\u203a\u2039U+2066\u203areversed\u2039U+2069\u203a')
        B.shot('hostile')
        for view in 'vvvv':  # the graph is the last of them
            for _ in range(len(sample.ATTACKS) + 6):
                B.keys(']')
                if B.count('.row.insn'):
                    B.keys('j', 'j', Keys.ENTER)
            self.harmless()
            B.keys(view)

    def test_hostile_names_in_links(self):
        B.keys(']', ']')
        name = B.text('#kernel-name')
        wait_fragment('k', sample.ATTACKS[2])
        self.load(B.run('return location.hash'))
        self.assertEqual(B.text('#kernel-name'), name)
        self.harmless()

    def test_search_and_chooser(self):
        B.keys('/')
        B.keys('<script>')
        B.until('found', lambda: ' of ' in B.text('#find-count'))
        B.keys(Keys.ESCAPE, 'c')
        self.harmless()


class Big(View):
    page = 'big.html'
    ROWS_MAX = 120

    def bounded(self):
        for pane in ('source', 'code', 'mixed'):
            self.assertLessEqual(B.count(f'.pane.{pane} .row'), self.ROWS_MAX)

    def test_only_rows_in_view_exist(self):
        self.bounded()
        self.assertGreater(B.count('.pane.code .row'), 20)
        self.assertGreater(int(B.one('.code .rows').get_attribute('aria-rowcount')), 50000)
        for part in (0.5, 0.1, 0.99, 1):
            B.run("const r = document.querySelector('.code .rows'); r.scrollTop = r.scrollHeight * arguments[0]", part)
            B.until('rows there', lambda: B.run('''
                const r = document.querySelector('.code .rows').getBoundingClientRect();
                const n = document.elementFromPoint(r.left + 60, r.top + r.height / 2); return Boolean(n && n.closest('.row'))'''))
            self.bounded()
        B.until('the end', lambda: '0c34f0' in B.text('.pane.code').lower() or 'c34f0' in B.text('.pane.code').lower())
        B.keys('v')
        self.bounded()
        B.keys('v')
        self.bounded()

    def test_many_marks_and_hits(self):
        B.keys('/')
        B.keys('mad')
        B.until('found', lambda: B.text('#find-count').replace('\u2009', '').startswith('1 of 1'))
        B.keys(Keys.ESCAPE, 'p')
        B.until('the last', lambda: B.count('.row.at') == 1)
        B.keys('g')
        B.keys('0xc34f0', Keys.ENTER)
        B.until('there', lambda: B.count('.code .row.pin') >= 1)
        B.until('source too', lambda: B.count('.source .row.pin') == 1)
        self.bounded()
        B.shot('big')

    def test_minimap_scrolls(self):
        box = B.one('.code .minimap-frame')
        before = B.run("return document.querySelector('.code .rows').scrollTop")
        B.driver.execute_cdp_cmd('Input.dispatchMouseEvent', {'type': 'mousePressed', 'button': 'left', 'clickCount': 1, 'x': box.rect['x'] + 10, 'y': box.rect['y'] + box.rect['height'] / 2})
        B.driver.execute_cdp_cmd('Input.dispatchMouseEvent', {'type': 'mouseReleased', 'button': 'left', 'clickCount': 1, 'x': box.rect['x'] + 10, 'y': box.rect['y'] + box.rect['height'] / 2})
        B.until('scrolled', lambda: B.run("return document.querySelector('.code .rows').scrollTop") > before + 300000)


class RealModule(unittest.TestCase):
    """Compiled by ocloc, read by zescope, shown."""

    @classmethod
    def setUpClass(cls):
        for name, text in (('nbody.cl', sample.REAL_CL), ('common.h', sample.REAL_H)):
            with open(B.path(name), 'w', encoding='ascii') as f:
                f.write(text)
        for name, options in (('debug', '-g'), ('plain', '')):
            command = ['ocloc', 'compile', '-file', 'nbody.cl', '-device', 'skl', '-output', name, '-out_dir', name]
            subprocess.run(command + (['-options', options] if options else []), cwd=B.scratch, check=True, timeout=120, stdout=subprocess.DEVNULL)
            binary = next(f for f in os.listdir(B.path(name)) if f.endswith('.bin'))
            subprocess.run([ZESCOPE, 'annotate', '--quiet', '--html', B.path(name + '.html'), B.path(name + '/' + binary)], check=True, timeout=240)

    def setUp(self):
        B.complaints()

    def tearDown(self):
        self.assertEqual(B.complaints(), [])

    def load(self, name, link=''):
        B.open(name + '.html', link)
        B.until('rows', lambda: B.count('.pane .row'))
        B.away()

    def test_source_and_code_are_linked(self):
        self.load('debug')
        self.assertEqual(B.texts('.row.kernel .name'), ['force', 'scale'])
        self.assertIn('common.h', B.text('.pane-note'))
        B.click(row_text('source', 'return x * x'))
        B.until('its code', lambda: marked('code', 'pin'))
        self.assertTrue(all('mul' in text or 'mad' in text for text in marked('code', 'pin')))
        self.assertEqual(B.texts('.crumb b'), ['force', 'dist'])  # the compiler names no code for sq
        self.assertIn('read', ' '.join(B.texts('.t-msg')))
        self.assertGreater(B.count('.pressure i'), 20)
        self.assertGreater(B.count('.row.label .goto-link'), 0)
        B.shot('real-light')
        B.keys('t')
        B.shot('real-dark')

    def test_every_instruction_is_there_once(self):
        self.load('debug', '#k=force')
        total = int(dict(zip(B.texts('#stats dt'), B.texts('#stats dd')))['instructions'])
        B.size(1280, 20000)
        try:
            B.until('all rows', lambda: B.count('.pane.code .row.insn') == total)
            offsets = B.texts('.pane.code .row.insn .c-offset')
            self.assertEqual(len(set(offsets)), total)
            B.keys('v')
            B.until('all rows by source', lambda: B.count('.pane.mixed .row.insn') == total)
            self.assertEqual(sorted(B.texts('.pane.mixed .row.insn .c-offset')), sorted(offsets))
        finally:
            B.size(1280, 800)

    def test_without_debug_info_it_says_why(self):
        self.load('plain')
        self.assertIn('-g', B.text('.pane.source .row.note'))
        self.assertGreater(B.count('.pane.code .row.insn'), 20)

    def test_without_script(self):
        B.cdp('Emulation.setScriptExecutionDisabled', value=True)
        try:
            B.open('debug.html')
            text = WithoutScript.seen()
        finally:
            B.cdp('Emulation.setScriptExecutionDisabled', value=False)
        self.assertIn('return x * x', text)
        self.assertIn('mul (16|M0)', text)
        self.assertIn('scale', text)


class WithoutScript(unittest.TestCase):
    def setUp(self):
        B.cdp('Emulation.setScriptExecutionDisabled', value=True)

    def tearDown(self):
        B.cdp('Emulation.setScriptExecutionDisabled', value=False)
        B.driver.get('about:blank')

    @staticmethod
    def seen():
        """The text of the page as laid out, through the accessibility tree."""
        nodes = B.cdp('Accessibility.getFullAXTree')['nodes']
        return '\n'.join(n['name']['value'] for n in nodes if n.get('role', {}).get('value') == 'StaticText')

    def test_listing_is_read(self):
        B.open('basic.html')
        text = self.seen()
        self.assertIn('nbody.bin', text)
        self.assertIn('__kernel void force(</script><b onclick="x()">)', text)
        self.assertIn('mov (8|M0) r3', text)
        self.assertIn('invalid \ufffd\ufffd( nul \ufffd bidi <U+202E> end', text)
        self.assertNotIn('Columns', text)  # the page's own controls are hidden
        B.shot('plain')

    def test_hostile_title(self):
        B.open('hostile.html')
        self.assertIn(sample.ATTACKS[0], self.seen())

    def test_too_long_listings_say_how_to_get_them(self):
        B.open('big.html')
        self.assertIn('2 of 2 listings are left out', self.seen())
        self.assertIn('zescope annotate <module>', self.seen())


if __name__ == '__main__':
    TOOL = os.path.abspath(sys.argv.pop(1))
    ZESCOPE = os.path.abspath(sys.argv.pop(1))
    if sys.argv[1:] == ['--sample']:
        sys.argv[1:] = SAMPLE
    unittest.main(verbosity=2)
