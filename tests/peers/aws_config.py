"""Shared files, endpoints and regions as interpreted by botocore.

    aws_config.py AWS-RESOLVE ini COUNT SEED
    aws_config.py AWS-RESOLVE hosts
    aws_config.py AWS-RESOLVE named"""

import itertools
import json
import os
import random
import subprocess
import sys

import botocore.configloader
import botocore.session
try:
    from botocore.configprovider import ConfiguredEndpointProvider
except ImportError:
    ConfiguredEndpointProvider = None
from botocore.endpoint_provider import EndpointProvider
from botocore.exceptions import BotoCoreError, ConfigParseError
from botocore.loaders import Loader

PROGRAM = sys.argv[1]
# Scope of the credential: botocore's name.
SERVICES = {
    'sagemaker': 'sagemaker', 'logs': 'logs', 'monitoring': 'cloudwatch',
    'events': 'events', 'sqs': 'sqs', 's3': 's3', 'sts': 'sts',
    'sns': 'sns',
}
REGIONS = ['us-east-1', 'eu-west-1', 'cn-north-1', 'cn-northwest-1',
           'us-gov-west-1', 'us-gov-east-1', 'us-iso-east-1',
           'us-isob-east-1', 'eu-isoe-west-1', 'us-isof-south-1',
           'eusc-de-east-1', 'ap-southeast-7']
checked = wrong = 0


def same(what, got, want):
    global checked, wrong
    checked += 1
    if got != want:
        wrong += 1
        print(f'{what}\n  got  {got}\n  want {want}')


def ask(*arguments, env=None):
    home = {'HOME': os.getcwd(), 'PATH': os.environ['PATH']}
    for name in 'LD_LIBRARY_PATH', 'ASAN_OPTIONS':
        if name in os.environ:
            home[name] = os.environ[name]
    out = subprocess.run([PROGRAM, *arguments], env={**home, **(env or {})},
                         capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def piece(r):
    return ''.join(r.choice('abcXY =:#;[]"\\/.0-') for _ in range(4))


def line(r):
    indent = r.choice(['', '', '', ' ', '  ', '\t', '    '])
    key = r.choice(['region', 'Key', 's3', 'a b', 'x', 'role_arn', 'y', 'z'])
    return r.choice([
        lambda: f'[{r.choice(["default", "profile x", "profile y", "q"])}]',
        lambda: f'{indent}{key} = {piece(r)}',
        lambda: f'{indent}{key}={piece(r)}',
        lambda: f'{indent}{key} :{piece(r)}',
        lambda: f'{indent}{key} =',
        lambda: f'{indent}{key} =',
        lambda: '', lambda: '  ',
        lambda: f'{indent}{r.choice("#;")} {piece(r)}',
        lambda: f'{indent}{piece(r)}',
    ])()


def theirs(path):
    """As our list, each key once; None when it is refused."""
    try:
        sections = botocore.configloader.raw_config_parse(path)
    except ConfigParseError as e:
        why = type(e.kwargs.get('error')).__name__
        return 'twice' if why.startswith('Duplicate') else None
    out = {}
    for section, keys in sections.items():
        for key, value in keys.items():
            if isinstance(value, dict):
                for sub, inner in value.items():
                    out[section, key, sub] = inner
            else:
                out[section, key, None] = value
    return out


def check_ini(count, seed):
    r = random.Random(seed)
    good = 0
    while good < count:
        text = '[default]\n' + ''.join(
            line(r) + '\n' for _ in range(r.randint(1, 9)))
        if any(row.strip().startswith('[') and ('=' in row or ':' in row)
               for row in text.splitlines()):
            continue
        with open('file', 'w') as f:
            f.write(text)
        want = theirs('file')
        if want == 'twice':
            continue
        got = ask('ini', 'file')
        got = None if isinstance(got, dict) else {
            (a, b, c): d for a, b, c, d in got}
        same(repr(text), got, want)
        good += want is not None


def check_hosts():
    loader = Loader()
    partitions = loader.load_data('partitions')
    providers = {
        name: EndpointProvider(
            loader.load_service_model(name, 'endpoint-rule-set-1'), partitions)
        for name in SERVICES.values()}
    for region, fips, dual in itertools.product(
            REGIONS, (False, True), (False, True)):
        got = ask('endpoints', env={
            'AWS_REGION': region, 'AWS_USE_FIPS_ENDPOINT': str(fips).lower(),
            'AWS_USE_DUALSTACK_ENDPOINT': str(dual).lower()})
        for scope, name in SERVICES.items():
            more = {'UseGlobalEndpoint': False} if name == 's3' else {}
            try:
                want = providers[name].resolve_endpoint(
                    Region=region, UseFIPS=fips, UseDualStack=dual, **more).url
            except BotoCoreError:
                want = None
            same(f'{name} {region} fips {fips} dual {dual}', got[scope], want)


CONFIG = """
[default]
region = eu-west-1
[profile url]
endpoint_url = http://all.example:81/base
[profile near]
region = us-east-2
services = near
endpoint_url = http://all.example
ca_bundle = /ca.pem
[profile off]
ignore_configured_endpoint_urls = true
endpoint_url = http://all.example
[profile gone]
services = nowhere
[services near]
sagemaker =
  endpoint_url = https://sagemaker.example
cloudwatch_logs =
  endpoint_url = https://logs.example
cloudwatch =
  endpoint_url = https://cloudwatch.example
eventbridge =
  endpoint_url = https://events.example
sts =
  other = 1
"""
CREDENTIALS = """
[keys]
aws_access_key_id = K
region = us-west-1
[near]
aws_access_key_id = K
"""
VARIABLES = {
    'AWS_ENDPOINT_URL': 'http://every.example',
    'AWS_ENDPOINT_URL_S3': 'http://s3.example',
    'AWS_ENDPOINT_URL_CLOUDWATCH_LOGS': 'http://logs2.example',
    'AWS_ENDPOINT_URL_CLOUDWATCH': 'http://cloudwatch2.example',
    'AWS_ENDPOINT_URL_EVENTBRIDGE': 'http://events2.example',
    'AWS_ENDPOINT_URL_SAGEMAKER': '',
    'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS': 'TRUE',
    'AWS_DEFAULT_REGION': 'ap-south-1',
    'AWS_CA_BUNDLE': '/ca2.pem',
}


def named(profile, env):
    """What botocore takes from variables and files."""
    os.environ.clear()
    os.environ.update(env, HOME=os.getcwd())
    session = botocore.session.Session(profile=profile)
    # As it is without a configuration of its own for the client.
    off = session.get_config_variable('ignore_configured_endpoint_urls')
    out = {'region': session.get_config_variable('region'),
           'ca_bundle': session.get_config_variable('ca_bundle')}
    for scope, name in SERVICES.items():
        try:
            out[scope] = None if off else ConfiguredEndpointProvider(
                session.full_config, session.get_scoped_config(), name,
                os.environ).provide()
        except BotoCoreError:
            out[scope] = 'refused'
    return out


def check_named():
    os.makedirs('.aws', exist_ok=True)
    with open('.aws/config', 'w') as f:
        f.write(CONFIG)
    with open('.aws/credentials', 'w') as f:
        f.write(CREDENTIALS)
    path = os.environ['PATH']
    r = random.Random(1)
    for profile in None, 'default', 'url', 'near', 'off', 'gone', 'keys':
        for n in range(12):
            env = {k: v for k, v in VARIABLES.items()
                   if n and r.random() < 0.4}
            want = named(profile, env)
            os.environ['PATH'] = path
            got = ask('endpoints', *[profile] * bool(profile), env=env)
            for key, value in got.items():
                what = f'{key} of {profile} with {env}'
                if key not in SERVICES:
                    same(what, value, want[key])
                elif want[key] == 'refused':
                    same(what, value, None)
                elif want[key] is not None:
                    same(what, value, want[key])
                else:
                    same(what, 'example' not in (value or ''), True)


def main():
    if sys.argv[2] == 'ini':
        check_ini(int(sys.argv[3]), sys.argv[4])
    elif sys.argv[2] == 'hosts':
        check_hosts()
    else:
        check_named()
    print(f'{checked} compared, {wrong} differ')
    sys.exit(wrong > 0)


main()
