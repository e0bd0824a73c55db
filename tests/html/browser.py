"""A headless Chromium for the tests: one for all, driven through Selenium, nothing but file: URLs."""
import json
import os
import shutil
import subprocess
import tempfile
import time

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common import utils
from selenium.webdriver.common.action_chains import ActionChains

FLAGS = ('--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking '
         '--disable-component-update --disable-sync --hide-scrollbars --disable-dev-shm-usage').split()
WAIT_S = 120


# Contrast of each text that can be seen with what lies under it, as WCAG 2.1 computes it: [[text, ratio], ...] of those
# under arguments[0] (large ones under arguments[1]). What a canvas writes is measured as it is written (CANVAS).
CONTRAST = """
const probe = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const rgba = c => { probe.clearRect(0, 0, 1, 1); probe.fillStyle = c; probe.fillRect(0, 0, 1, 1); const d = probe.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
const over = (top, under, opacity = 1) => under.map((v, i) => v + (top[i] - v) * top[3] * opacity);
const luminance = c => c.slice(0, 3).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const ratio = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
const opacity = e => { let o = 1; for (; e && e.nodeType === 1; e = e.parentNode) o *= Number(getComputedStyle(e).opacity); return o; };
"""
TEXTS = CONTRAST + """
const [least, large] = arguments, bad = [];
let seen = 0;
const rule = new CSSStyleSheet();
rule.replaceSync('* { pointer-events: auto !important; transition: none !important; }');
document.adoptedStyleSheets = [rule];
for (const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walk.nextNode();) {
    const e = walk.currentNode.parentElement, range = document.createRange(), style = getComputedStyle(e);
    range.selectNodeContents(walk.currentNode);
    const box = range.getClientRects()[0];
    if (!walk.currentNode.data.trim() || !box || !e.checkVisibility({visibilityProperty: true}) || e.closest(':disabled, script, style'))
        continue;
    const big = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    for (const part of [.1, .5, .9]) {
        const layers = document.elementsFromPoint(box.left + part * box.width, box.top + box.height / 2), at = layers.indexOf(e);
        if (at < 0)
            continue;
        let under = [255, 255, 255];
        for (const layer of layers.slice(at).reverse()) {
            const s = getComputedStyle(layer), shape = layer instanceof SVGGeometryElement;
            under = over(rgba(shape ? s.fill : s.backgroundColor), under, shape ? opacity(layer) * s.fillOpacity : opacity(layer));
        }
        seen++;
        const is = ratio(over(rgba(e instanceof SVGElement ? style.fill : style.color), under, opacity(e)), under);
        if (is < (big ? large : least)) {
            bad.push([walk.currentNode.data.trim().slice(0, 40), Number(is.toFixed(2)), String(e.className.baseVal ?? e.className), e.tagName]);
            break;
        }
    }
}
for (const input of document.querySelectorAll('input[placeholder]'))
    if (input.checkVisibility()) {
        const under = over(rgba(getComputedStyle(input).backgroundColor), [255, 255, 255]), is = ratio(over(rgba(getComputedStyle(input, '::placeholder').color), under), under);
        if (getComputedStyle(input).backgroundColor !== 'rgba(0, 0, 0, 0)' && is < least)
            bad.push([input.placeholder, Number(is.toFixed(2)), input.id, 'INPUT']);
    }
document.adoptedStyleSheets = [];
return {seen, bad: [...bad, ...(window.written || []).filter(w => w[1] < least)], written: (window.written || []).length};
"""
CANVAS = CONTRAST + """
window.written = [];
const plain = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
    const m = this.getTransform(), at = new DOMPoint(x + (this.textAlign === 'right' || this.textAlign === 'end' ? -3 : 3), y).matrixTransform(m);
    let under = [255, 255, 255];
    const page = [];
    for (let n = this.canvas; n && n.nodeType === 1; n = n.parentNode)
        page.unshift(n);
    under = page.reduce((below, n) => over(rgba(getComputedStyle(n).backgroundColor), below), under);
    const d = this.getImageData(Math.max(0, at.x), Math.max(0, at.y), 1, 1).data;
    under = over([d[0], d[1], d[2], d[3] / 255], under);
    window.written.push([String(text), Number(ratio(over(rgba(this.fillStyle), under, this.globalAlpha), under).toFixed(2)), 'canvas', '']);
    return plain.call(this, text, x, y, ...rest);
};
"""


class Driver(Service):
    """At an address, as a bare machine may not know the name localhost; a busy one is slow to start it."""

    @property
    def service_url(self):
        return f'http://127.0.0.1:{self.port}'

    def is_connectable(self):
        end = time.monotonic() + WAIT_S
        while not utils.is_connectable(self.port, '127.0.0.1'):
            if self.process.poll() is not None or time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True


class Browser:
    def __init__(self):
        self.scratch = tempfile.mkdtemp(prefix='zescope-html-')
        options = Options()
        for flag in FLAGS + [f'--user-data-dir={self.scratch}/profile', '--window-size=1280,800']:
            options.add_argument(flag)
        options.binary_location = shutil.which('chromium')
        options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
        service = Driver(shutil.which('chromedriver'), env={**os.environ, 'HOME': self.scratch})
        self.driver = webdriver.Chrome(service=service, options=options)
        self.driver.set_page_load_timeout(240)
        self.size(1280, 800)
        self.scheme('light')

    def close(self):
        self.driver.quit()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def size(self, width, height):
        self.cdp('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.cdp('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': name}])

    def open(self, name, fragment=''):
        """A fresh load, whatever was open."""
        self.driver.get('about:blank')
        self.driver.get('file://' + self.path(name) + fragment)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector):
        return self.driver.find_elements('css selector', selector)

    def one(self, selector):
        return self.driver.find_element('css selector', selector)

    def text(self, selector):
        return self.run('const n = document.querySelector(arguments[0]); return n && n.textContent', selector)

    def count(self, selector):
        return self.run('return document.querySelectorAll(arguments[0]).length', selector)

    def texts(self, selector):
        return self.run('return Array.from(document.querySelectorAll(arguments[0]), n => n.textContent)', selector)

    def check_contrast(self, least=4.5, large=3):
        """All texts of the page as it stands; how many there are, also of those that canvases wrote since measure_canvas()."""
        found = self.run(TEXTS, least, large)
        assert not found['bad'], found['bad']
        return found['seen'], found['written']

    def measure_canvas(self):
        self.run(CANVAS)

    def keys(self, *keys):
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def point(self, selector):
        ActionChains(self.driver, duration=0).move_to_element(self.one(selector)).perform()

    def away(self):
        """The pointer to where it touches nothing."""
        self.point('#kernel-name')

    def click(self, selector):
        ActionChains(self.driver, duration=0).move_to_element(self.one(selector)).click().perform()

    def until(self, what, check):
        """Wait for check() to be true and give its value."""
        end = time.monotonic() + WAIT_S
        while True:
            try:
                value = check()
            except StaleElementReferenceException:
                value = None
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f'never happened: {what}')
            time.sleep(0.02)

    def complaints(self):
        """What the page wrote to its console: errors, refusals by its policy. (One remark is on
        these tests: they read pixels.)"""
        return [entry['message'] for entry in self.driver.get_log('browser') if 'willReadFrequently' not in entry['message']]

    def requests(self):
        """Everything that was asked for over any protocol since the last call."""
        urls = []
        for entry in self.driver.get_log('performance'):
            message = json.loads(entry['message'])['message']
            if message['method'] in ('Network.requestWillBeSent', 'Network.webSocketCreated'):
                params = message['params']
                urls.append(params.get('url') or params['request']['url'])
        return urls

    def shot(self, name):
        folder = os.environ.get('ZESCOPE_TEST_SHOTS')
        if folder:
            os.makedirs(folder, exist_ok=True)
            self.driver.save_screenshot(os.path.join(folder, name + '.png'))


def write_page(tool, out, document_path, title, *more):
    subprocess.run([tool, out, document_path, title, *map(str, more)], check=True, timeout=240)
