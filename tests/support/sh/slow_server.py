"""A server of HTTP that never answers: the first part of the path says how.

hang: no byte comes.  drip: a byte of the headers, and again one.  half: a body that
is announced and does not come.  endless: a body without an end.  Prints its port; each
request is a line of the file "asked".
"""

import socketserver
import sys
import time


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        path = self.rfile.readline().split()[1].decode()
        mode = path.split("/")[1]
        with open("asked", "a") as file:
            file.write(path + "\n")
        try:
            getattr(self, mode)()
        except OSError:
            pass

    def hang(self):
        while self.request.recv(65536):
            pass

    def drip(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        while True:
            self.wfile.write(b"x")
            time.sleep(0.2)

    def half(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        self.hang()

    def endless(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n[")
        while True:
            self.wfile.write(b" " * 1048576)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
sys.stdout.close()
server.serve_forever()
