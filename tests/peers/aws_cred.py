"""Credentials found by botocore in random environments.

    aws_cred.py AWS-RESOLVE COUNT SEED

One server of this script plays STS, a container and an instance."""

import http.server
import json
import os
import random
import subprocess
import sys
import threading
import urllib.parse

import botocore.configprovider
import botocore.session

ROLES = '/latest/meta-data/iam/security-credentials/'
NEVER = '2037-01-01T00:00:00Z'


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def say(self, status, text):
        body = text.encode()
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def keys(self, name):
        self.say(200, json.dumps({
            'Code': 'Success', 'AccessKeyId': name, 'SecretAccessKey': 'S',
            'Token': f'token of {name}'.replace(' ', '-'),
            'Expiration': NEVER}))

    def do_PUT(self):
        self.say(200, 'a-token')

    def do_GET(self):
        if self.path == ROLES:
            self.say(200, 'a-role')
        elif self.path == ROLES + 'a-role':
            self.keys('INSTANCE')
        elif self.path.startswith('/creds'):
            self.keys('TASK')
        else:
            self.say(404, '')

    def do_POST(self):
        length = int(self.headers['Content-Length'])
        form = dict(urllib.parse.parse_qsl(self.rfile.read(length).decode()))
        # Who asked is in the new key, so that chains can be told apart.
        sign = self.headers.get('Authorization', '')
        by = sign.partition('Credential=')[2].partition('/')[0]
        name = form['RoleArn'].rpartition('/')[2] + '-by-' + \
            (form.get('WebIdentityToken') or by)
        kind = form['Action']
        self.say(200, f"""<{kind}Response
            xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><{kind}Result>
            <Credentials><AccessKeyId>{name}</AccessKeyId>
            <SecretAccessKey>S</SecretAccessKey>
            <SessionToken>token-of-{name}</SessionToken>
            <Expiration>{NEVER}</Expiration></Credentials>
            </{kind}Result></{kind}Response>""")

    def log_message(self, *_):
        pass


CONFIG = """
[default]
region = eu-west-1
[profile conf]
aws_access_key_id = CONF
aws_secret_access_key = S
[profile token]
aws_access_key_id = OLDTOKEN
aws_secret_access_key = S
aws_security_token = one
aws_session_token = two
[profile process]
credential_process = printf '{"Version": 1, "AccessKeyId": "PROC",\
 "SecretAccessKey": "S", "SessionToken": "t"}'
[profile processkeys]
credential_process = printf '{"Version": 1, "AccessKeyId": "PROC2",\
 "SecretAccessKey": "S"}'
aws_access_key_id = CONF2
aws_secret_access_key = S
[profile badprocess]
credential_process = false
[profile role]
role_arn = arn:aws:iam::1:role/role
source_profile = shared
[profile two]
role_arn = arn:aws:iam::1:role/two
source_profile = role
[profile three]
role_arn = arn:aws:iam::1:role/three
source_profile = two
[profile overprocess]
role_arn = arn:aws:iam::1:role/overprocess
source_profile = process
[profile overboth]
role_arn = arn:aws:iam::1:role/overboth
source_profile = rolekeys
[profile rolekeys]
role_arn = arn:aws:iam::1:role/rolekeys
source_profile = shared
aws_access_key_id = ROLEKEYS
aws_secret_access_key = S
[profile self]
role_arn = arn:aws:iam::1:role/self
source_profile = self
aws_access_key_id = SELF
aws_secret_access_key = S
[profile selfless]
role_arn = arn:aws:iam::1:role/selfless
source_profile = selfless
[profile loop]
role_arn = arn:aws:iam::1:role/loop
source_profile = loop2
[profile loop2]
role_arn = arn:aws:iam::1:role/loop2
source_profile = loop
[profile env]
role_arn = arn:aws:iam::1:role/env
credential_source = Environment
[profile task]
role_arn = arn:aws:iam::1:role/task
credential_source = EcsContainer
[profile instance]
role_arn = arn:aws:iam::1:role/instance
credential_source = Ec2InstanceMetadata
[profile moon]
role_arn = arn:aws:iam::1:role/moon
credential_source = Moon
[profile nosource]
role_arn = arn:aws:iam::1:role/nosource
[profile both]
role_arn = arn:aws:iam::1:role/both
source_profile = shared
credential_source = Environment
[profile web]
role_arn = arn:aws:iam::1:role/web
web_identity_token_file = token
[profile webless]
web_identity_token_file = token
[profile overweb]
role_arn = arn:aws:iam::1:role/overweb
source_profile = web
[profile overempty]
role_arn = arn:aws:iam::1:role/overempty
source_profile = empty
[profile empty]
region = eu-west-2
"""
CREDENTIALS = """
[shared]
aws_access_key_id = SHARED
aws_secret_access_key = S
aws_session_token = shared-token
[conf]
region = eu-west-3
[half]
aws_access_key_id = HALF
[rolehere]
role_arn = arn:aws:iam::1:role/rolehere
source_profile = shared
"""
DEFAULT = '[default]\naws_access_key_id = DEFAULT\naws_secret_access_key = S\n'
PROFILES = [line.split()[-1].strip('[]') for line in
            (CONFIG + CREDENTIALS).splitlines() if line.startswith('[')]
SOURCES = {
    'env': 'environment', 'shared-credentials-file': 'credentials file',
    'config-file': 'config file', 'assume-role': 'role of',
    'assume-role-with-web-identity': 'web identity',
    'custom-process': 'credential_process', 'container-role': 'container',
    'iam-role': 'instance',
}


def variables(r, url):
    def some(chance, **names):
        return names if r.random() < chance else {}
    return {
        'AWS_DEFAULT_REGION': 'eu-west-1', 'AWS_ENDPOINT_URL_STS': url,
        **some(0.3, AWS_ACCESS_KEY_ID='ENV', AWS_SECRET_ACCESS_KEY='S'),
        **some(0.1, AWS_ACCESS_KEY_ID='ENV2'),
        **some(0.3, AWS_SESSION_TOKEN='env-token'),
        **some(0.1, AWS_SECURITY_TOKEN='env-token-2'),
        **some(0.4, AWS_PROFILE=r.choice(PROFILES)),
        **some(0.1, AWS_DEFAULT_PROFILE=r.choice(PROFILES)),
        **some(0.2, AWS_WEB_IDENTITY_TOKEN_FILE='token'),
        **some(0.4, AWS_ROLE_ARN='arn:aws:iam::1:role/envrole'),
        **some(0.3, AWS_CONTAINER_CREDENTIALS_FULL_URI=url + '/creds'),
        **(some(0.5, AWS_EC2_METADATA_SERVICE_ENDPOINT=url) or
           {'AWS_EC2_METADATA_DISABLED': 'true'}),
    }


def certain(url):
    """Every profile, and every place without one."""
    usual = {'AWS_DEFAULT_REGION': 'eu-west-1', 'AWS_ENDPOINT_URL_STS': url}
    off = {'AWS_EC2_METADATA_DISABLED': 'true'}
    for profile in PROFILES:
        yield profile, {**usual, **off}
    for more in (
            {'AWS_ACCESS_KEY_ID': 'ENV', 'AWS_SECRET_ACCESS_KEY': 'S'},
            {'AWS_WEB_IDENTITY_TOKEN_FILE': 'token',
             'AWS_ROLE_ARN': 'arn:aws:iam::1:role/envrole'},
            {'AWS_CONTAINER_CREDENTIALS_FULL_URI': url + '/creds'}):
        yield None, {**usual, **off, **more}
    yield None, {**usual, 'AWS_EC2_METADATA_SERVICE_ENDPOINT': url}


def session_of(profile, sts):
    """A session; one too old for AWS_ENDPOINT_URL_STS is told where STS is."""
    session = botocore.session.Session(profile=profile)
    if hasattr(botocore.configprovider, 'ConfiguredEndpointProvider'):
        return session
    create = session.create_client

    def create_client(service, *more, **named):
        if service == 'sts':
            named['endpoint_url'] = sts
        return create(service, *more, **named)
    session.create_client = create_client
    return session


def theirs(profile, env):
    os.environ.clear()
    os.environ.update(env)
    try:
        session = session_of(profile, env['AWS_ENDPOINT_URL_STS'])
        keys = session.get_credentials()
        if keys is None:
            return 'refused'
        frozen = keys.get_frozen_credentials()
    except Exception:
        return 'refused'
    return [frozen.access_key, frozen.secret_key, frozen.token or None,
            SOURCES[keys.method]]


def ours(program, profile, env):
    out = subprocess.run([program, 'keys'] + [profile] * bool(profile),
                         env=env, capture_output=True, text=True, check=True)
    got = json.loads(out.stdout)
    if 'error' in got:
        return 'refused', got['error']
    source = next((s for s in SOURCES.values() if s in got['source']), '')
    return [got['id'], got['secret'], got['token'], source], ''


def main():
    program, count, seed = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    r = random.Random(seed)
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f'http://127.0.0.1:{server.server_port}'
    with open('token', 'w') as f:
        f.write('web-token')
    os.makedirs('.aws', exist_ok=True)
    with open('.aws/config', 'w') as f:
        f.write(CONFIG)
    base = {k: os.environ[k] for k in ('PATH', 'LD_LIBRARY_PATH',
                                       'ASAN_OPTIONS') if k in os.environ}
    base['HOME'] = os.getcwd()
    wrong, seen, refused = 0, {}, 0
    cases = [(profile, more, '') for profile, more in certain(url)]
    while len(cases) < count:
        cases.append((r.choice([None, None, *r.sample(PROFILES, 4)]),
                      variables(r, url), r.choice(['', DEFAULT])))
    for profile, more, default in cases:
        with open('.aws/credentials', 'w') as f:
            f.write(CREDENTIALS + default)
        env = {**base, **more}
        want = theirs(profile, env)
        got, why = ours(program, profile, env)
        if got != want:
            wrong += 1
            print(profile, {k: v for k, v in env.items() if k not in base})
            print('  got ', got, why)
            print('  want', want)
        refused += want == 'refused'
        seen[want[3] if want != 'refused' else want] = True
    print(f'{len(cases)} environments, {len(seen)} kinds of answer, '
          f'{refused} refused, {wrong} differ')
    server.shutdown()
    sys.exit(wrong > 0)


main()
