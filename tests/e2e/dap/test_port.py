#!/usr/bin/env python3
"""`zescope dap --port` and clients that do not speak its protocol.

Usage: test_port.py ZESCOPE
"""
import json
import re
import socket
import subprocess
import sys
import unittest

ZESCOPE = sys.argv[1]


def message(**members):
    body = json.dumps(members).encode()
    return b'Content-Length: %d\r\n\r\n%s' % (len(body), body)


class Port(unittest.TestCase):
    def setUp(self):
        self.server = subprocess.Popen([ZESCOPE, 'dap', '--port', '0'], stderr=subprocess.PIPE, text=True)
        self.port = int(re.search(r'127\.0\.0\.1:(\d+)', self.server.stderr.readline()).group(1))

    def tearDown(self):
        self.server.kill()
        self.server.communicate()

    def ask(self, data):
        with socket.create_connection(('127.0.0.1', self.port), timeout=60) as s:
            s.sendall(data)
            answer = b''
            while b'\r\n\r\n' not in answer or not answer.split(b'\r\n\r\n', 1)[1]:
                more = s.recv(65536)
                if not more:
                    break
                answer += more
        return answer

    def test_requests_of_browsers(self):
        """A page may send what it likes, a launch too: none of it is looked at."""
        launch = message(seq=1, type='request', command='launch', arguments={'program': '/bin/false'})
        for first in (b'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
                      b'POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n' + launch):
            answer = self.ask(first)
            self.assertTrue(answer.startswith(b'HTTP/1.1 400 '), answer)
            self.assertIn(b'no client of the Debug Adapter Protocol', answer)
            said = self.server.stderr.readline()
            self.assertIn('no client of the Debug Adapter Protocol', said)
            self.assertIn(first.split(b'\r\n')[0].decode(), said)

    def test_clients_of_the_protocol(self):
        self.ask(b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc')
        for header in (b'Content-Length', b'content-length'):
            answer = self.ask(message(seq=1, type='request', command='initialize', arguments={})
                              .replace(b'Content-Length', header))
            self.assertTrue(answer.startswith(b'Content-Length: '), answer)
            self.assertIn(b'"success":true', answer.replace(b' ', b''))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
