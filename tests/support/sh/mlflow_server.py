"""A stand-in of an MLflow tracking server, with as much of its REST API as the
export uses.  Prints its port, and a line for each request; PATH "state" gives
all that it has."""

import http.server
import json
import sys
import urllib.parse

experiments, runs = {}, {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, found, status=200):
        body = json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        if url.path == "/state":
            return self.answer(list(runs.values()))
        name = urllib.parse.parse_qs(url.query)["experiment_name"][0]
        if name not in experiments:
            return self.answer({"error_code": "RESOURCE_DOES_NOT_EXIST",
                                "message": "no"}, 404)
        self.answer({"experiment": {"experiment_id": experiments[name]}})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.rpartition("mlflow/")[2]
        print(path, self.headers.get("Authorization", ""), file=sys.stderr,
              flush=True)
        if "--refuse" in sys.argv:
            return self.answer({"error_code": "PERMISSION_DENIED",
                                "message": "no right"}, 403)
        if path == "experiments/create":
            experiments[asked["name"]] = str(len(experiments) + 1)
            return self.answer({"experiment_id": experiments[asked["name"]]})
        if path == "runs/create":
            run = str(len(runs))
            runs[run] = {"name": asked["run_name"], "status": "RUNNING",
                         "experiment": asked["experiment_id"],
                         "tags": {t["key"]: t["value"] for t in asked["tags"]},
                         "params": {}, "metrics": []}
            return self.answer({"run": {"info": {"run_id": run}}})
        if path == "runs/search":  # in pages of two
            first = int(asked.get("page_token", 0))
            study = asked["filter"].split("'")[1]
            here = [run for run in sorted(runs)
                    if runs[run]["experiment"] in asked["experiment_ids"]
                    and runs[run]["tags"]["hpotune.study"] == study]
            found = [{"info": {"run_id": run}, "data": {"tags": [
                {"key": k, "value": v} for k, v in runs[run]["tags"].items()]}}
                     for run in here[first:first + 2]]
            more = {"next_page_token": str(first + 2)}
            return self.answer({"runs": found,
                                **(more if first + 2 < len(here) else {})})
        run = runs[asked["run_id"]]
        if path == "runs/update":
            run["status"] = asked["status"]
            return self.answer({})
        assert len(asked.get("metrics", [])) <= 1000
        for one in asked.get("metrics", []):
            if one not in run["metrics"]:
                run["metrics"].append(one)
        for one in asked.get("params", []):
            assert run["params"].setdefault(one["key"], one["value"]) == one["value"]
        for one in asked.get("tags", []):
            run["tags"][one["key"]] = one["value"]
        self.answer({})


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
