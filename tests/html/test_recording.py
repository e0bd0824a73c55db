#!/usr/bin/python3
"""The page of a recording in a headless Chromium.

usage: test_recording.py HTML_PAGE_TOOL [--sample | unittest arguments]

--sample: what every check runs: each view, links between them and to the code, and everything hostile.

With ZESCOPE_TEST_SHOTS=FOLDER, screenshots are left there.
"""
import math
import os
import sys
import unittest
from urllib.parse import parse_qs

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sample  # noqa: E402
import sample_recording  # noqa: E402
from browser import Browser, write_page  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

SAMPLE = [
    'Timeline.test_facts_and_what_was_left_out', 'Timeline.test_counters_over_the_timeline', 'Timeline.test_click_selects_and_tells',
    'Timeline.test_search', 'Timeline.test_to_the_code_and_back', 'Tables.test_tabs', 'Tables.test_sort', 'Tables.test_filter',
    'FlameGraph.test_widths_are_times_and_rows_depth', 'FlameGraph.test_click_zooms_and_the_link_keeps_it',
    'Twins.test_from_the_timeline', 'Twins.test_checks_mark_rows', 'Diff.test_page', 'Roofline.test_findings_and_links', 'Roofline.test_crowded', 'Roofline.test_what_threads_do_and_where_bytes_go', 'Roofline.test_widths_and_schemes', 'Roofline.test_contrast', 'Timeline.test_metrics_are_a_table', 'Hostile',
    'Big.test_many_items_are_drawn_with_few_steps', 'WithoutScript']
TOOL = None
B = None
CHECKS = [{'kernel': 'force', 'text': 'kernel force: race\n  here', 'sites': [{'offset': 16}, {'offset': 999}]}]
LABEL, AXIS = 190, 24  # of src/report/html/js/rec_canvas.js
US = 1000


def setUpModule():
    global B
    B = Browser()
    with open(B.path('listing.txt'), 'w', encoding='utf-8') as f:
        f.write('calls\n  time  zeInit </script><b>\n')
    twins = [dict(sample.bare('force', n), module=m) for m, n in zip(sample_recording.TWINS, (5, 7))]
    pages = (('twins', sample.module(twins, {}), dict(sample_recording.twins(), checks=CHECKS)), ('basic', sample.basic(), sample_recording.basic()), ('hostile', sample.hostile(), sample_recording.hostile()),
             ('big', sample.module([], {}), sample_recording.big()))
    for name, module, record in pages:
        sample.dump(module, B.path(name + '.module.json'))
        sample.dump(record, B.path(name + '.json'))
        write_page(TOOL, B.path(name + '.html'), B.path(name + '.module.json'), 'rec', B.path('listing.txt'), 0, B.path(name + '.json'))


def tearDownModule():
    B.close()


def fragment():
    return parse_qs(B.run('return location.hash.slice(1)'))


def wait_fragment(key, value):
    B.until(f'{key}={value} in the address, not {fragment()}', lambda: fragment().get(key) == ([value] if value is not None else None))


def facts():
    return dict(zip(B.texts('#rec-details dt'), B.texts('#rec-details dd')))


def plain(text):
    return text.replace('\u2009', ' ')


class Page(unittest.TestCase):
    page, link = 'basic.html', ''

    def setUp(self):
        B.complaints()
        self.load(self.link)

    def load(self, link=''):
        B.open(self.page, link)
        B.until('the page', lambda: B.run('return document.documentElement.classList.contains("in-rec") && !document.getElementById("rec").hidden'))

    def check_heads(self):
        """Each head of a table stands over its column's values: at the same end."""
        B.until('rows', lambda: B.count('.rec-row'))
        ends = B.run("""const heads = [...document.querySelectorAll('.rec-head > *')], rows = [...document.querySelectorAll('.rec-row')];
            return rows.flatMap(row => [...row.children].map((cell, i) => {
                const ends = n => { const r = document.createRange(); r.selectNodeContents(n); const b = r.getBoundingClientRect(), c = n.getBoundingClientRect(); return [b.left, b.right, c.left, c.right]; };
                return [heads[i] && heads[i].textContent, cell.classList.contains('num'), ends(heads[i] || row), ends(cell)];
            }))""")
        self.assertGreater(len(ends), 3)
        for title, is_number, head, cell in ends:
            self.assertLess(abs(head[2] - cell[2]) + abs(head[3] - cell[3]), 3, title)
            if is_number and cell[1] > cell[0]:
                self.assertLess(abs(head[1] - cell[1]), 14, title)

    def tearDown(self):
        self.assertEqual(B.complaints(), [])


class Timeline(Page):
    span = 1000 * US

    def at(self, time, y):
        """Where a time stands in the canvas that shows all, and a height in it."""
        width = B.run('return document.getElementById("rec-canvas").clientWidth')
        return LABEL + time / self.span * (width - LABEL), y + AXIS

    def press(self, time, y, twice=False):
        x, top = self.at(time, y)
        box = B.run('const b = document.getElementById("rec-canvas").getBoundingClientRect(); return [b.left, b.top]')
        chain = ActionChains(B.driver, duration=0)
        chain.w3c_actions.pointer_action.move_to_location(int(box[0] + x), int(box[1] + top))
        (chain.double_click() if twice else chain.click()).perform()

    def pixel(self, time, y):
        x, top = self.at(time, y)
        return B.run('const c = document.getElementById("rec-canvas"), r = devicePixelRatio; return [...c.getContext("2d").getImageData(arguments[0] * r, arguments[1] * r, 1, 1).data]', x, top)

    # rows: head 22, device 18, queue with two lanes 45, memory 53, threads' head 18, main with marks 41
    QUEUE, MAIN = 22 + 18 + 10, 22 + 18 + 45 + 53 + 18 + 15 + 10

    def test_facts_and_what_was_left_out(self):
        stats = dict(zip(B.texts('#rec-stats dt'), map(plain, B.texts('#rec-stats dd'))))
        self.assertEqual(stats, {'calls': '12', 'kernels run': '4', 'threads': '2', 'queues': '1', 'peak memory': '8.19 kB', 'time': '1.00 ms', 'exit status': '3'})
        self.assertEqual(B.text('#rec-note'), 'times of kernels are modelled: the device was the software GPU \u00b7 '
                         '5 of 12 calls are shown as shading \u00b7 2 executions have no times')
        self.assertEqual(B.text('#rec-name'), 'app --fast')
        command, when = B.run('return document.querySelector("#rec-name").dataset.tip').split('\n')
        self.assertTrue(command.endswith('app --fast') and ' on ' in when, (command, when))
        B.shot('recording')

    def test_counters_over_the_timeline(self):
        """Behind the threads: a bar as high as the value, from the report's start to its end; metrics that are 0 have none."""
        top = self.MAIN - 25 + 41 + 26 + 18 # main and worker, the head of the group
        def is_drawn(time, y):
            return self.pixel(time * US, top + y)[3] != 0
        B.until('drawn', lambda: is_drawn(443, 4))
        # between the reports nothing, the second half as high
        self.assertEqual([is_drawn(560, 24), is_drawn(727, 4), is_drawn(727, 24)], [False, False, True])
        x, y = self.at(450 * US, top + 20)
        box = B.run('const b = document.getElementById("rec-canvas").getBoundingClientRect(); return [b.left, b.top]')
        chain = ActionChains(B.driver, duration=0)
        chain.w3c_actions.pointer_action.move_to_location(int(box[0] + x), int(box[1] + y))
        chain.perform()
        B.until('the value', lambda: 'Active: 80 %' in plain((B.text('#tip') or '')))

    def test_metrics_are_a_table(self):
        self.load('#r=tables&tab=metrics')
        B.until('the rows', lambda: 'Active' in B.text('#rec-table'))
        text = plain(B.text('#rec-table'))
        for word in ('60.3 %', '1.23M threads'):
            self.assertIn(word, text)
        # a row for each kernel, a column for each metric
        self.assertEqual(B.count('.rec-row'), 1)
        self.check_heads()

    def test_click_selects_and_tells(self):
        B.until('drawn', lambda: self.pixel(420 * US, self.QUEUE) != self.pixel(650 * US, self.QUEUE))
        self.press(420 * US, self.QUEUE)
        B.until('selected', lambda: B.text('.rec-title') and 'force' in B.text('.rec-title'))
        f = {k: plain(v) for k, v in facts().items()}
        self.assertEqual(f['took'], '100 \u00b5s')
        self.assertEqual(f['append to start'], '80.0 \u00b5s')
        self.assertEqual(f['submit to start'], '20.0 \u00b5s')
        self.assertEqual(f['groups'], '32\u00d71\u00d71')
        self.assertEqual(f['of size'], '64\u00d71\u00d71')
        self.assertIn('A GPU, queue 1, engine 0.0', f['on'])
        wait_fragment('s', '2.0')
        buttons = {b.text: b for b in B.all('#rec-details button')}
        buttons['The call'].click()
        B.until('its call', lambda: 'zeCommandListAppendLaunchKernel' in B.text('.rec-title'))
        self.assertIn('number 3', facts()['call'])
        self.assertEqual(B.texts('.rec-stack li'), ['launch at app.c:7', 'main at app.c:3'])
        {b.text: b for b in B.all('#rec-details button')}['What it appended'].click()
        B.until('back', lambda: 'force' in B.text('.rec-title'))
        self.press(650 * US, self.QUEUE)
        B.until('unselected', lambda: not B.count('.rec-title'))

    def test_results_and_calls_that_never_return(self):
        self.load('#r=timeline&s=0.1')
        self.assertEqual(facts()['result'], 'ZE_RESULT_ERROR_INVALID_ARGUMENT')
        self.load('#r=timeline&s=0.5')
        self.assertEqual(facts()['took'], 'never returned')

    def test_overlapping_executions_have_their_own_lane(self):
        self.press(530 * US, self.QUEUE + 19)
        B.until('the second', lambda: fragment().get('s') == ['2.1'])

    def test_keys(self):
        B.keys('0', Keys.ARROW_DOWN)
        B.until('first track', lambda: 'force' in (B.text('.rec-title') or ''))
        B.keys(Keys.ARROW_RIGHT)
        wait_fragment('s', '2.1')
        B.keys(Keys.ARROW_DOWN)
        B.until('a thread', lambda: (fragment().get('s') or [''])[0].startswith('0.'))
        B.keys('f')
        B.until('zoomed', lambda: 'f' in fragment())
        low, high = int(fragment()['f'][0]), int(fragment()['u'][0])
        B.keys('w')
        B.until('closer', lambda: int(fragment()['u'][0]) - int(fragment()['f'][0]) < high - low)
        B.keys('d')
        B.until('later', lambda: int(fragment()['f'][0]) > low)
        B.keys('0')
        wait_fragment('f', None)
        B.keys(Keys.ESCAPE)
        wait_fragment('s', None)
        B.keys('?')
        B.until('help', lambda: B.run('return document.getElementById("help").open'))
        self.assertIn('zoom to the selection', B.text('#help'))
        self.assertTrue(B.one('#help').is_displayed())
        B.shot('recording-help')
        B.keys(Keys.ESCAPE)

    def test_wheel_zooms_where_the_pointer_is(self):
        x, _ = self.at(500 * US, 0)
        B.run('''const c = document.getElementById('rec-canvas'), b = c.getBoundingClientRect();
            c.dispatchEvent(new WheelEvent('wheel', {deltaY: -700, clientX: b.left + arguments[0], clientY: b.top + 100, cancelable: true}));''', x)
        B.until('zoomed', lambda: 'f' in fragment())
        low, high = int(fragment()['f'][0]), int(fragment()['u'][0])
        self.assertAlmostEqual((low + high) / 2, 500 * US, delta=3 * US)
        self.assertLess(high - low, 300 * US)

    def test_search(self):
        B.keys('/', 'force|alloc')
        B.until('counted', lambda: B.text('#rec-count') == '3 matches')
        B.keys(Keys.ENTER)
        B.until('the first', lambda: 'zeMemAllocDevice' in (B.text('.rec-title') or ''))
        B.keys(Keys.ESCAPE, 'n', 'n')
        wait_fragment('s', '2.1')
        B.keys('p')
        wait_fragment('s', '2.0')
        wait_fragment('q', 'force|alloc')
        B.keys('/', '(')
        B.until('told', lambda: B.text('#rec-count') == 'not an expression')

    def test_link_brings_the_view_back(self):
        self.load('#r=timeline&f=300000&u=500000&s=2.1&q=force&t=dark')
        self.assertIn('force', B.text('.rec-title'))
        self.assertEqual(B.run('return document.getElementById("rec-find").value'), 'force')
        self.assertEqual(B.run('return document.documentElement.dataset.theme'), 'dark')
        B.keys('l')
        B.until('flows', lambda: B.one('#rec-flows').get_attribute('aria-pressed') == 'true')
        B.shot('recording-dark')
        wait_fragment('u', '500000')

    def test_to_the_code_and_back(self):
        self.load('#r=timeline&s=2.0')
        {b.text: b for b in B.all('#rec-details button')}['Source and machine code'].click()
        B.until('code', lambda: B.text('#kernel-name') == 'force' and B.count('.pane.code .row.insn'))
        wait_fragment('k', 'force')
        B.keys('j', '2')  # keys of the code's view: 2 is none
        self.assertTrue(B.run('return document.getElementById("rec").hidden'))
        B.click('#to-recording')
        B.until('back', lambda: fragment().get('r') == ['timeline'])
        B.open(self.page, '#k=reduce_sum')
        B.until('a link to code', lambda: B.text('#kernel-name') == 'reduce_sum')

    def test_accessible(self):
        canvas = B.one('#rec-canvas')
        self.assertEqual(canvas.get_attribute('tabindex'), '0')
        self.assertIn('Arrow keys', canvas.get_attribute('aria-label'))
        self.assertEqual(B.one('#rec-details').get_attribute('aria-live'), 'polite')
        nameless = B.run('''return Array.from(document.querySelectorAll('#rec button, #rec input')).filter(n =>
            !n.textContent.trim() && !n.getAttribute('aria-label')).length''')
        self.assertEqual(nameless, 0)

    def test_requests_nothing(self):
        B.requests()
        self.load('#r=tables')
        urls = [u for u in B.requests() if not u.startswith(('file://' + B.path('basic.html'), 'data:', 'about:'))]
        self.assertEqual(urls, [])


class Tables(Page):
    link = '#r=tables&tab=calls'

    def names(self):
        return B.texts('.rec-row .name:first-child')

    def test_tabs(self):
        tabs = [plain(t) for t in B.texts('#rec-tabs button')]
        self.assertEqual(tabs, ['Calls4', 'Kernels2', 'Barriersn/a', 'Memory1', 'Leaks1', 'Metrics1'])
        B.click('[data-table=barriers]')
        B.until('not recorded', lambda: 'n/a' in B.text('#rec-rows'))
        B.click('[data-table=leaks]')
        B.until('leaks', lambda: B.text('#rec-rows') == '1 of 1 row, 7 more are not on this page')
        self.assertEqual(B.texts('.rec-row [role=cell]')[:3], ['event', '0x7f01', 'n/a'])
        wait_fragment('tab', 'leaks')

    def test_sort(self):
        B.click('[data-key=total_ns]')
        B.until('sorted', lambda: self.names()[0] == 'zeEventHostSynchronize')
        B.click('[data-key=total_ns]')
        B.until('the other way', lambda: self.names()[0] == 'zeMemAllocDevice')
        wait_fragment('sort', 'total_ns')
        self.assertEqual(B.one('[data-key=total_ns]').get_attribute('aria-sort'), 'ascending')
        B.click('[data-key=name]')
        B.until('by name', lambda: self.names() == sorted(self.names()))
        self.load('#r=tables&tab=calls&sort=-count')
        self.assertEqual(self.names()[0], 'zeCommandListAppendLaunchKernel')

    def test_filter(self):
        for text, names in (('alloc', ['zeMemAllocDevice']), ('/^zeE/', ['zeEventHostSynchronize']), ('failed>0', ['zeMemAllocDevice']),
                            ('total>=300us count<2', ['zeInit']), ('invalid_argument', ['zeMemAllocDevice']), ('nothing', [])):
            B.one('#rec-filter').clear()
            B.click('#rec-filter')
            B.keys(text)
            B.until(text, lambda names=names: self.names() == names)
        B.keys(Keys.ESCAPE)
        wait_fragment('flt', 'nothing')

    def test_not_known_is_not_zero(self):
        B.click('[data-table=kernels]')
        B.until('kernels', lambda: len(self.names()) == 2)
        self.assertGreaterEqual(B.count('.rec-row .na'), 4)
        B.shot('recording-tables')

    def test_kernel_leads_to_its_code(self):
        self.load('#r=tables&tab=kernels')
        self.assertEqual(B.count('.rec-row.pick'), 1)  # the other has no code
        B.click('.rec-row.pick .name:first-child')
        B.until('code', lambda: B.text('#kernel-name') == 'force')

    def test_row_leads_to_the_timeline(self):
        self.load('#r=tables&tab=kernels')
        B.keys(Keys.ARROW_DOWN)
        B.until('chosen', lambda: B.count('.rec-row.on') == 1)
        {b.text: b for b in B.all('.rec-row.on button')}['Timeline'].click()
        B.until('selected', lambda: 'force' in (B.text('.rec-title') or ''))
        self.assertEqual(B.text('#rec-count'), '2 matches')

    def test_numbers_read_well(self):
        cells = [plain(t) for t in B.texts('.rec-row:first-child [role=cell]')]
        self.assertIn('300 \u00b5s', cells)
        self.assertIn('50.0 %', cells)


    def test_durations_of_the_chosen_kernel(self):
        self.load('#r=tables&tab=kernels')
        self.assertEqual(B.count('.rec-bars i'), 0)
        B.keys(Keys.ARROW_DOWN)
        B.until('bars', lambda: B.count('.rec-bars i') == 3)  # two eighths of an octave with one between
        self.assertEqual(B.run("return Array.from(document.querySelectorAll('.rec-bars i'), n => n.style.height)"), ['100%', '1px', '100%'])
        self.assertIn('2 executions', B.text('.rec-bars .says'))
        B.shot('recording-durations')
        B.keys(Keys.ARROW_DOWN)
        B.until('none', lambda: B.count('.rec-bars i') == 0)


class FlameGraph(Page):
    link = '#r=flame&fl=host.0'

    def boxes(self):
        return {b[0]: b[1:] for b in B.run("return Array.from(document.querySelectorAll('.flame'), n => [n.textContent, n.offsetTop, n.offsetLeft, n.offsetWidth])")}

    def test_widths_are_times_and_rows_depth(self):
        boxes, width = self.boxes(), B.run("return document.getElementById('rec-flames').clientWidth")
        self.assertEqual(sorted(boxes), ['API calls', 'main', 'solve', 'zeEventHostSynchronize', 'zeInit'])
        for name, part in (('API calls', 1), ('main', 1), ('solve', .75), ('zeEventHostSynchronize', .75), ('zeInit', .25)):
            self.assertAlmostEqual(boxes[name][2], width * part, delta=3)
        self.assertEqual([boxes[n][0] for n in ('API calls', 'main', 'solve', 'zeEventHostSynchronize')], [0, 22, 44, 66])
        self.assertEqual(boxes['solve'][1], boxes['zeEventHostSynchronize'][1])
        B.shot('recording-flame')

    def test_click_zooms_and_the_link_keeps_it(self):
        B.click('.flame[data-node="3"]')
        wait_fragment('fl', 'host.3')
        self.assertEqual(set(self.boxes()), {'API calls', 'main', 'zeInit'})
        self.load(B.run('return location.hash'))
        self.assertEqual(set(self.boxes()), {'API calls', 'main', 'zeInit'})
        B.keys('0')
        B.until('all', lambda: len(self.boxes()) == 5)

    def test_device_time_leads_to_the_code(self):
        B.click('[data-flame=device]')
        B.until('device', lambda: 'force' in self.boxes())
        B.click('.flame[data-node="2"]')
        wait_fragment('fl', 'device.2')
        B.click('.flame[data-node="2"]')
        B.until('the code', lambda: B.text('#kernel-name') == 'force')

    def test_search(self):
        B.keys('/')
        B.keys('^ze')
        B.until('found', lambda: B.text('#rec-count') == '2 matches')
        self.assertEqual(sorted(B.texts('.flame.found')), ['zeEventHostSynchronize', 'zeInit'])

    def test_keys(self):
        B.keys('2')
        B.until('tables', lambda: B.one('#rec-tables').is_displayed())
        B.keys('4')
        B.until('flames', lambda: B.one('#rec-flame').is_displayed())


class Twins(Page):
    """Kernels of one name: links lead to the code of the module that was run."""
    page, link = 'twins.html', '#r=timeline'

    def code(self):
        B.until('code', lambda: not B.run('return document.documentElement.classList.contains("in-rec")') and B.text('#kernel-name') == 'force' and B.count('.pane.code .row.insn'))
        return B.count('.pane.code .row.insn')

    def test_from_the_timeline(self):
        for item, instructions in ((0, 7), (1, 5)):  # the first that ran is of the second module
            self.load(f'#r=timeline&s=2.{item}')
            self.assertEqual(facts()['module'], sample_recording.TWINS[1 - item])
            {b.text: b for b in B.all('#rec-details button')}['Source and machine code'].click()
            self.assertEqual(self.code(), instructions)
            self.load(f'#r=timeline&s=2.{item}')
            B.keys(Keys.ENTER)
            self.assertEqual(self.code(), instructions)

    def test_checks_mark_rows(self):
        B.click('button[data-rec=code]')
        self.code()
        self.assertEqual(B.count('.pane.code .row.at-fault'), 1)
        self.assertEqual(B.run('return document.querySelector(".pane.code .row.at-fault .c-text").dataset.tip'), 'kernel force: race\n  here')

    def test_from_the_flame_graph(self):
        for node, instructions in ((1, 7), (2, 5)):
            self.load(f'#r=flame&fl=device.{node}')
            B.click(f'.flame[data-node="{node}"]')
            self.assertEqual(self.code(), instructions)

    def test_from_the_tables(self):
        for row, instructions in ((1, 5), (2, 7)):
            self.load('#r=tables&tab=kernels')
            B.keys(*[Keys.ARROW_DOWN] * row)
            {b.text: b for b in B.all('.rec-row.on button')}['Code'].click()
            self.assertEqual(self.code(), instructions)

    def test_what_is_missing_is_told(self):
        self.assertEqual(dict(zip(B.texts('#rec-stats dt'), B.texts('#rec-stats dd')))['recordings'], '3')
        self.assertIn('1 of 3 recordings are without their code', B.text('#rec-note'))


class Diff(unittest.TestCase):
    def test_page(self):
        rows = [{'kind': 'kernel', 'name': 'slow</script><img src=x onerror="window.pwned=1">', 'changed': True,
                 'a': {'count': 1, 'failed': 0, 'timed': 1, 'total_ns': 1000, 'mean_ns': 1000}, 'b': {'count': 2, 'failed': 1, 'timed': 2, 'total_ns': 6000, 'mean_ns': 3000}},
                {'kind': 'call', 'name': 'zeInit', 'changed': False, 'a': {'count': 1, 'failed': 0, 'timed': 1, 'total_ns': 10, 'mean_ns': 10}, 'b': {'count': 1, 'failed': 0, 'timed': 1, 'total_ns': 10, 'mean_ns': 10}},
                {'kind': 'call', 'name': 'gone', 'changed': True, 'a': {'count': 1, 'failed': 0, 'timed': 1, 'total_ns': 2000, 'mean_ns': 2000}, 'b': None}]
        sample.dump({'schema': 'zescope.compare/1', 'a': '/x/before', 'b': '/x/after', 'changes': rows}, B.path('diff.json'))
        write_page(TOOL, B.path('diff.html'), B.path('diff.json'), 'before, after', B.path('listing.txt'), 0, '-', 'compare')
        B.complaints()
        B.open('diff.html')
        B.until('rows', lambda: B.count('#diff-rows tr') == 2)
        self.assertFalse(B.run('return "pwned" in window'))
        self.assertEqual([plain(t) for t in B.texts('#diff-rows tr:first-child td')],
                         ['kernel', rows[0]['name'], '1', '2', '0', '1', '1.00 µs', '3.00 µs', '1.00 µs', '6.00 µs', '+200.0 %', '+5.00 µs'])
        self.assertIn('gone', B.texts('#diff-rows tr:nth-child(2) td')[1:])
        try:
            for scheme in ('light', 'dark'):
                B.scheme(scheme)
                for width in (700, 1400):  # numbers lie on bars, and beside them
                    B.size(width, 800)
                    self.assertGreater(B.check_contrast()[0], 20)
        finally:
            B.size(1280, 800)
            B.scheme('light')
        B.click('#diff-all')
        B.until('all', lambda: B.count('#diff-rows tr') == 3)
        B.click('#diff-heads button[data-key=name]')
        self.assertEqual(B.texts('#diff-rows td.name')[0], 'gone')
        B.one('#diff-filter').send_keys('zeI')
        B.until('filtered', lambda: B.texts('#diff-rows td.name') == ['zeInit'])
        self.assertEqual(B.complaints(), [])
        B.shot('diff')

    def test_changes_are_those_of_the_text(self):
        """Of exact means, not of whole ones; halfway between two tenths the even one is taken."""
        def row(name, a, b):
            sides = [{'count': n, 'failed': 0, 'timed': n, 'total_ns': total, 'mean_ns': total // n} for total, n in (a, b)]
            return {'kind': 'call', 'name': name, 'changed': True, 'a': sides[0], 'b': sides[1]}
        cases = {'exact': ((199, 100), (250, 100)), 'half': ((16, 1), (17, 1)), 'less': ((16, 1), (15, 1)), 'odd': ((80, 1), (83, 1))}
        changes = {name: (b[0] / b[1]) / (a[0] / a[1]) * 100 - 100 for name, (a, b) in cases.items()}
        sample.dump({'schema': 'zescope.compare/1', 'a': 'a', 'b': 'b', 'changes': [row(n, *c) for n, c in cases.items()]}, B.path('exact.json'))
        write_page(TOOL, B.path('exact.html'), B.path('exact.json'), 'a, b', B.path('listing.txt'), 0, '-', 'compare')
        B.complaints()
        B.open('exact.html')
        B.until('rows', lambda: B.count('#diff-rows tr') == len(cases))
        shown = dict(zip(B.texts('#diff-rows td.name'), (plain(t) for t in B.texts('#diff-rows td:nth-child(11)'))))
        self.assertEqual({n: t.replace('\u2212', '-') for n, t in shown.items()}, {n: f'{c:+.1f} %' for n, c in changes.items()})


class Roofline(Page):
    link = '#r=analysis'

    def marks(self):
        return {m[0]: (float(m[1]), float(m[2]), float(m[3])) for m in B.run(
            "return Array.from(document.querySelectorAll('.roof-mark'), n => [n.getAttribute('aria-label'), n.getAttribute('cx'), n.getAttribute('cy'), n.getAttribute('r')])")}

    def roofs(self):
        return {r[0]: [float(x) for x in r[1:]] for r in B.run(
            "return Array.from(document.querySelectorAll('.roof-line'), n => [n.dataset.roof, n.getAttribute('x1'), n.getAttribute('y1'), n.getAttribute('x2'), n.getAttribute('y2')])")}

    def test_marks_lie_under_their_roofs(self):
        marks, roofs = self.marks(), self.roofs()
        self.assertEqual(set(marks), {'force', 'solve of rank-3'})
        self.assertEqual(set(roofs), {'L3', 'local memory', 'single precision'})
        # roofs of the same rate lie on each other: one name for both, along them
        self.assertEqual(B.texts('.roof-name'), ['local memory, L3 221 GB/s', 'single precision 442 Gop/s'])
        # the chosen kernel stands under its other roof, too, a decade further; kernels have their names; nothing is cut
        self.assertEqual(B.count('.roof-other'), 1)
        self.assertEqual(B.texts('.roof-kernel'), ['force', 'solve of rank-3'])
        self.assertEqual(B.run('''const box = document.querySelector('.roofline').getBoundingClientRect();
            return Array.from(document.querySelectorAll('.roofline text'), n => [n.textContent, n.getBoundingClientRect()])
                .filter(([, r]) => r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1).map(([text]) => text)'''), [])
        turn = float(B.run("return document.querySelector('.roof-name').getAttribute('transform')").split('rotate(')[1].split(')')[0])
        x1, y1, x2, y2 = roofs['L3']
        self.assertAlmostEqual(math.tan(math.radians(turn)), (y2 - y1) / (x2 - x1), places=3)
        x1, y1, x2, y2 = roofs['L3']
        peak = roofs['single precision'][1]
        # the memory's roof ends where it meets the peak
        self.assertAlmostEqual(y2, peak, delta=.5)
        # axes are logarithmic: force is at 20 of 27.6 Gop/s, a little below the line, at 0.125
        x, y, r = marks['force']
        line = y1 + (y2 - y1) * (x - x1) / (x2 - x1)
        self.assertGreater(y, line)
        self.assertLess(y - line, 40)
        self.assertGreater(marks['solve of rank-3'][0], x2)
        self.assertGreater(marks['solve of rank-3'][1], peak)
        self.assertLess(marks['solve of rank-3'][1] - peak, 20)
        self.assertGreater(r, marks['solve of rank-3'][2])
        # a decade is as wide everywhere: 100 against 0.125
        ticks = dict(B.run("return Array.from(document.querySelectorAll('.roof-tick[text-anchor=middle]'), n => [n.textContent, Number(n.getAttribute('x'))])"))
        decade = ticks['10'] - ticks['1']
        self.assertAlmostEqual(marks['solve of rank-3'][0] - x, decade * 2.903, delta=1)
        B.shot('recording-analysis')

    def test_what_threads_do_and_where_bytes_go(self):
        cards = plain(B.text('.cards'))
        for text in ('62.5 % responses of messages', '25 % issuing', '12.5 % barriers and fences', 'bandwidth of memory62 %', '12.8 kB asked for', '75 % hits', '25 % hits', '4.8 kB',
                     'groups of 256100 %'):
            self.assertIn(text, cards)
        bar = B.run("return Array.from(document.querySelectorAll('.card .stalls span'), n => n.getBoundingClientRect().width)")
        self.assertEqual([round(w / sum(bar), 2) for w in bar], [.25, .62, .13])
        self.assertEqual(B.count('.kernels tbody tr:first-child .stalls span'), 3)

    VIEWS = ['#r=' + view for view in ('timeline', 'analysis', 'flame', 'tables&tab=kernels', 'tables&tab=leaks', 'tables&tab=metrics')] + [
        '#k=force&v=' + view for view in ('split', 'source', 'address', 'graph')]

    def test_contrast(self):
        """Of all texts with what lies under them, as it is computed for WCAG 2.1: 4.5 to 1."""
        try:
            for scheme in ('light', 'dark'):
                B.scheme(scheme)
                for view in self.VIEWS:
                    self.load(view) if view.startswith('#r') else B.open(self.page, view)
                    B.until('the view', lambda: len(B.text('body')) > 200)
                    if view.startswith('#r'):
                        self.assertEqual(B.one('#rec-clock').text, 'times modelled', view)
                    B.measure_canvas()
                    B.size(1281, 2400)  # all in sight; canvases are drawn again
                    B.until('drawn', lambda: view != '#r=timeline' or B.run('return window.written.length > 9'))
                    seen, written = B.check_contrast()
                    self.assertGreater(seen + written, 40, view)
                    B.size(1280, 800)
                B.keys('?')
                B.until('help', lambda: B.count('dialog[open], .help:not([hidden]), #help:not([hidden])'))
                B.check_contrast()
            self.load('#r=analysis')
            B.size(1281, 2400)
            B.run("document.getElementById('rec-findings').style.color = '#555'")
            with self.assertRaises(AssertionError):
                B.check_contrast()
        finally:
            B.size(1280, 800)
            B.scheme('light')

    def test_widths_and_schemes(self):
        """Pictures to look at; nothing is cut, and a source can be read."""
        try:
            for width, height in ((700, 1000), (1100, 800), (1400, 900), (1920, 1080)):
                B.size(width, height)
                for scheme in ('light', 'dark'):
                    B.scheme(scheme)
                    self.load('#r=analysis')
                    B.shot(f'analysis-{width}-{scheme}')
                    self.assertLess(B.run("return document.getElementById('rec-clock').getBoundingClientRect().right"), width)
                    wide = B.run('return [document.documentElement.scrollWidth, innerWidth]')
                    self.assertLessEqual(wide[0], wide[1])
                    cut = B.run("""const cell = document.querySelector('.kernels tbody td:nth-child(5)'), table = document.querySelector('.rec-kernels');
                        cell.textContent = 'data ports: lines between EUs and L3, 97.2 %';
                        return table.scrollWidth - table.clientWidth;""")
                    self.assertLessEqual(cut, 0, width)
                    self.assertEqual(B.run("""const texts = [...document.querySelectorAll('.roofline text:not([transform])')].map(n => [n.textContent, n.getBoundingClientRect()]);
                        return texts.flatMap(([a, p], i) => texts.slice(i + 1).filter(([, q]) => p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 2 && q.top < p.bottom - 2).map(([b]) => [a, b]))"""), [])
                self.load('#r=tables&tab=metrics')
                self.check_heads()
                B.shot(f'metrics-{width}')
                B.scheme('light')
                B.open(self.page, '#k=force&nav=1')
                B.until('code', lambda: B.count('.pane.source .row.line'))
                B.shot(f'code-{width}')
                if width >= 1400:
                    room = B.run("""const pane = document.querySelector('.pane.source .rows').getBoundingClientRect(),
                        text = document.querySelector('.pane.source .row.line .c-text'), probe = text.appendChild(document.createElement('span'));
                        probe.textContent = '0'.repeat(40);
                        const ch = probe.getBoundingClientRect().width / 40, left = text.getBoundingClientRect().left;
                        probe.remove();
                        return (pane.right - left) / ch;""")
                    self.assertGreaterEqual(room, 60)
        finally:
            B.size(1280, 800)
            B.scheme('light')

    def test_crowded(self):
        """Names of kernels lie beside that of a roof, which is no longer where most kernels are; what is not used is not shown."""
        B.open('twins.html', self.link)
        B.until('the picture', lambda: B.count('.roof-mark') == 9)
        B.shot('analysis-crowded')
        self.assertGreater(B.count('.roof-kernel'), 4)
        over = """const of = n => [...n.querySelectorAll('tspan')].length ? [] : [...Array(n.getNumberOfChars()).keys()].map(i => {
                const p = n.getStartPositionOfChar(i).matrixTransform(n.getCTM()); return [p.x, p.y]; });
            const roof = of(document.querySelector('.roof-name[transform]'));
            return [...document.querySelectorAll('.roof-kernel')].filter(n => of(n).some(([x, y]) => roof.some(([a, b]) => Math.hypot(x - a, y - b) < 5))).map(n => n.textContent);"""
        self.assertEqual(B.run(over), [])
        self.assertNotIn('LLC', B.text('.mem-row'))
        self.assertEqual(B.text('#rec-kernels tbody tr:nth-child(1) td:nth-child(6)'), '100 %')

    def test_findings_and_links(self):
        self.assertIn('uncoalesced access', B.text('#rec-findings'))
        self.assertIn('messages touch 8 times the lines', B.text('#rec-findings'))
        self.assertEqual(plain(B.text('.finding-numbers')), 'stride 128 B \u00b7 lines touched 1344')
        self.assertIn('20 Gflop/s of 27.6 Gflop/s that L3 allows', B.text('#rec-findings'))
        self.assertIn('Limited by bandwidth of memory: 62 % of what it can do.', B.text('#rec-findings'))
        self.assertEqual(B.text('.finding h3'), 'uncoalesced accessgain 41.5 %')
        self.assertIn('Costs nothing: tail effect', B.text('#rec-findings'))
        rows = B.run("return Array.from(document.querySelectorAll('#rec-kernels tbody tr'), r => Array.from(r.children, c => c.textContent))")
        self.assertEqual(rows, [['force', '3.00\u2009\u00b5s', '74.9 %', '', 'bandwidth of memory, 62 %', '72.5 %', 'uncoalesced access', '41.5 %'],
                                ['solve of rank-3', '1.00\u2009\u00b5s', '25 %', '', 'compute', '90.6 %', '', ''], ['bare', '5\u2009ns', '0.125 %', '', '', '', '', '']])
        B.click('.roof-mark[data-kernel="1"]')
        B.until('the other kernel', lambda: 'Nothing found' in B.text('#rec-findings'))
        wait_fragment('an', '1')
        self.load(B.run('return location.hash'))
        self.assertIn('Nothing found', B.text('#rec-findings'))
        B.click('.kernels button[data-kernel="2"]')
        B.until('what is missing', lambda: 'Not judged: spills, tail effect: its module was not recorded' in B.text('#rec-findings'))
        B.click('.kernels tr[data-kernel="0"] td')
        B.click('.finding-place')
        B.until('its code', lambda: B.one('#app').is_displayed())
        B.until('its line', lambda: B.count('.pin') > 0)

    def test_keys(self):
        self.load('#r=timeline')
        B.keys('5')
        B.until('analysis', lambda: B.one('#rec-analysis').is_displayed())
        wait_fragment('r', 'analysis')


class Hostile(Page):
    page = 'hostile.html'

    def test_nothing_becomes_markup_or_script(self):
        for view in ('timeline', 'tables&tab=calls', 'tables&tab=kernels', 'tables&tab=leaks', 'flame&fl=host.0', 'flame&fl=device.99', 'analysis&an=2', 'analysis&an=99'):
            self.load('#r=' + view)
            B.keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, '+', 'l')
            self.assertFalse(B.run('return "pwned" in window'))
            self.assertEqual(B.count('#rec b[onclick], #rec img, #rec script'), 0)


class Big(Page):
    page = 'big.html'

    def test_many_items_are_drawn_with_few_steps(self):
        steps = B.driver.execute_async_script('''
            const done = arguments[0], canvas = document.getElementById('rec-canvas');
            let calls = 0;
            const original = CanvasRenderingContext2D.prototype.fillRect;
            CanvasRenderingContext2D.prototype.fillRect = function (...a) { calls++; return original.apply(this, a); };
            canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: -10, clientX: 600, clientY: 300, cancelable: true}));
            requestAnimationFrame(() => requestAnimationFrame(() => {
                CanvasRenderingContext2D.prototype.fillRect = original;
                done(calls);
            }));''')
        self.assertGreater(steps, 100)
        self.assertLess(steps, 20000)  # of 300,000 items
        self.assertEqual(plain(B.text('#rec-note')), '20 of 1 000 executions are shown as shading')  # barriers are some
        B.shot('recording-big')

    def test_many_rows(self):
        self.load('#r=tables&tab=calls&sort=-count')
        self.assertEqual(B.texts('.rec-row .name:first-child')[0], 'call 2999')
        self.assertLess(B.count('.rec-row'), 100)

    def test_without_modules_there_is_no_code(self):
        self.assertTrue(B.one('[data-rec=code]').get_property('hidden'))
        B.keys('3')
        B.until('told', lambda: 'no modules' in B.text('#toast'))
        self.assertTrue(B.one('#toast').is_displayed())

    def test_pointing_tells(self):
        box = B.run('const b = document.getElementById("rec-canvas").getBoundingClientRect(); return [b.left, b.top]')
        chain = ActionChains(B.driver, duration=0)
        chain.w3c_actions.pointer_action.move_to_location(int(box[0]) + 600, int(box[1]) + AXIS + 22 + 18 + 10)
        chain.perform()
        B.until('a tooltip', lambda: B.one('#tip').is_displayed() and B.text('#tip'))


class WithoutScript(unittest.TestCase):
    def test_listing_is_read(self):
        B.cdp('Emulation.setScriptExecutionDisabled', value=True)
        try:
            B.open('basic.html')
            nodes = B.cdp('Accessibility.getFullAXTree')['nodes']
            text = '\n'.join(n['name']['value'] for n in nodes if n.get('role', {}).get('value') == 'StaticText')
            self.assertIn('zeInit </script><b>', text)
            self.assertNotIn('Flows', text)
        finally:
            B.cdp('Emulation.setScriptExecutionDisabled', value=False)
            B.driver.get('about:blank')


if __name__ == '__main__':
    TOOL = os.path.abspath(sys.argv.pop(1))
    if sys.argv[1:] == ['--sample']:
        sys.argv[1:] = SAMPLE
    unittest.main(verbosity=2)
