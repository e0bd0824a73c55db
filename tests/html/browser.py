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
