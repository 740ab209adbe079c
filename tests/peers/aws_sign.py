"""Requests with the signatures that botocore makes of them, as JSON.

    aws_sign.py COUNT [SEED]    COUNT random ones
    aws_sign.py table           those of tests/data/aws-sign.json
"""

import datetime
import json
import random
import sys
import types
from urllib.parse import quote

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

ODD = list("abcXYZ0129-_.~!*'()+ ,;:@&=$/?#[]%\"<>\\^`{|}") + ['é', 'ሴ', '😀']
NAMES = ['Content-Type', 'X-Amz-Target', 'X-Amz-Meta-Note', 'Range', 'Accept',
         'x-amz-acl', 'Content-MD5', 'My-Header1', 'My-Header10', 'My-Header2']


def text(r, least, most, letters=ODD):
    return ''.join(r.choice(letters) for _ in range(r.randint(least, most)))


def path(r, service):
    parts = []
    for _ in range(r.randint(0, 4)):
        part = text(r, 1, 8)
        if service != 's3' and r.random() < 0.3:
            part = r.choice(['.', '..', ''])
        parts.append(quote(part, safe='~'))
    end = '/' if parts and r.random() < 0.3 else ''
    return '/' + '/'.join(parts) + end


def pairs(r, most):
    out = []
    for _ in range(r.randint(0, most)):
        name = out[-1][0] if out and r.random() < 0.2 else text(r, 1, 6)
        out.append([name, text(r, 0, 8)])
    return out


def headers(r):
    blank = [' ', '  ', '\t', ' \t ']
    out = []
    for name in r.sample(NAMES, r.randint(0, 4)):
        words = [text(r, 1, 6, list('abcXYZ019-=;,/"')) for _ in range(3)]
        value = r.choice(blank).join(words)
        if r.random() < 0.5:
            value = r.choice(blank) + value + r.choice(blank)
        out.append([name, value])
        if r.random() < 0.1:
            out.append([r.choice([name, name.lower(), name.upper()]), 'again'])
    return out


def request(r, n):
    service = r.choice(['sagemaker', 's3', 'logs', 'sts', 's3', 'monitoring'])
    o = {
        'name': f'{service} {n}',
        'id': 'AKIA' + text(r, 12, 12, list('ABCDEFGH234567')),
        'secret': text(r, 40, 40, list('abcdefXYZ0123456789+/')),
        'region': r.choice(['us-east-1', 'eu-west-1', 'cn-north-1']),
        'service': service,
        'time': r.randint(1_400_000_000, 2_000_000_000),
        'method': r.choice(['GET', 'PUT', 'POST', 'HEAD', 'DELETE']),
        'host': r.choice(['example.amazonaws.com', 'localhost:4566',
                          'bucket.s3.eu-west-1.amazonaws.com']),
        'path': path(r, service),
        'query': pairs(r, 5),
        'headers': headers(r),
        'body': text(r, 0, 30),
    }
    if r.random() < 0.5:
        o['token'] = text(r, 20, 200, list('abcdefXYZ0123456789+/='))
    if service == 's3':
        o['path_once'] = o['content_sha256'] = True
    return o


def stop_clock(when):
    """All that any botocore asks for the time says when."""
    class Stopped(datetime.datetime):
        @classmethod
        def utcnow(cls):
            return when.replace(tzinfo=None)

        @classmethod
        def now(cls, tz=None):
            return when.astimezone(tz)

    botocore.auth.get_current_datetime = lambda *a, **k: when
    botocore.auth.datetime = types.SimpleNamespace(
        **{**vars(datetime), 'datetime': Stopped})


def sign(o):
    """Add what botocore makes of a request."""
    when = datetime.datetime.fromtimestamp(o['time'], datetime.timezone.utc)
    stop_clock(when)
    made = botocore.auth.S3SigV4Auth if o['service'] == 's3' \
        else botocore.auth.SigV4Auth
    auth = made(Credentials(o['id'], o['secret'], o.get('token')),
                o['service'], o['region'])
    q = AWSRequest(method=o['method'], url=f'https://{o["host"]}{o["path"]}',
                   data=o['body'].encode())
    # As the dictionary of a caller, but names may come twice.
    q.params = [(k, v) for k, v in o['query']]
    for name, value in o['headers']:
        q.headers.add_header(name, value)
    auth.add_auth(q)
    o['authorization'] = q.headers['Authorization']
    del q.headers['Authorization']
    o['canonical'] = auth.canonical_request(q)
    o['string'] = auth.string_to_sign(q, o['canonical'])
    o['signature'] = auth.signature(o['string'], q)
    return o


def case(name, **changes):
    o = {
        'name': name, 'id': 'AKIDEXAMPLE',
        'secret': 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
        'region': 'eu-west-1', 'service': 'sagemaker', 'time': 1732104000,
        'method': 'GET', 'host': 'api.sagemaker.eu-west-1.amazonaws.com',
        'path': '/', 'query': [], 'headers': [], 'body': '',
    }
    o.update(changes)
    if o['service'] == 's3':
        o['path_once'] = o['content_sha256'] = True
        o['host'] = 'bucket.s3.eu-west-1.amazonaws.com'
    return o


def table():
    s3 = {'service': 's3'}
    query = ['list-type', '2'], ['prefix', 'a b/c+d&e'], ['empty', '']
    return [
        case('nothing but a host'),
        case('a JSON operation', method='POST', body='{"MaxResults": 100}',
             headers=[['Content-Type', 'application/x-amz-json-1.1'],
                      ['X-Amz-Target', 'SageMaker.ListTrainingJobs']]),
        case('with a token', token='AQoDYXdzEPT//////////wEXAMPLE+/='),
        case('a host with its port', host='localhost:5000'),
        case('dots and slashes of a path', path='/a/./b//../c/../d/'),
        case('above the root', path='/../../a'),
        case('a dot at the end', path='/a/.'),
        case('an encoded blank is encoded again', path='/a%20b/%E1%88%B4'),
        case('letters that stay', path='/-._~09AZaz'),
        case('a query in the wrong order',
             query=[['b', '2'], ['a', '1'], ['a', '0'], ['A', '3']]),
        case('one name is the beginning of another',
             query=[['Param-3', '1'], ['Param', '2'], ['Param3', '3']]),
        case('a query with odd characters',
             query=[['ሴ', 'ü'], ['+', ' '], ['a=b', '&'], ['', 'x']]),
        case('blanks of a header',
             headers=[['My-Header', '  a   b\t c  ']]),
        case('several headers of a name',
             headers=[['My-Header', 'z'], ['my-header', 'a'],
                      ['MY-HEADER', 'm']]),
        case('headers sorted by name',
             headers=[['X-Zeta', '1'], ['Accept', '2'], ['x-alpha', '3']]),
        case('a day far away', time=2_208_988_800),
        case('the last second of a leap day', time=1_709_251_199),
        case('an object of S3', **s3, path='/a%20b/c%2Bd', method='PUT',
             body='some content'),
        case('S3 leaves dots and slashes', **s3, path='/a//b/../c/./'),
        case('a list of S3', **s3, query=[list(p) for p in query]),
        case('S3 with a token', **s3, token='token/+='),
    ]


def main():
    if sys.argv[1] == 'table':
        requests = table()
    else:
        r = random.Random(sys.argv[2] if len(sys.argv) > 2 else None)
        requests = [request(r, n) for n in range(int(sys.argv[1]))]
    signed = [sign(o) for o in requests]
    print('[\n' + ',\n'.join(json.dumps(o) for o in signed) + '\n]')


main()
