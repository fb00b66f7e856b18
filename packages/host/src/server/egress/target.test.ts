import { expect, test } from 'vitest';
import { parseTarget } from './target.ts';

const none: ReadonlySet<string> = new Set();

/** Ways to write an address that must not be called, by what they lead to. */
const attacks: Readonly<Record<string, readonly string[]>> = {
  loopback: [
    'https://127.0.0.1/',
    'https://127.1/',
    'https://127.0.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://017700000001/',
    'https://127.0.0.1./',
    'https://127.255.255.254/',
    'https://%31%32%37.0.0.1/',
    'https://①②⑦.⓪.⓪.①/',
    'https://１２７.０.０.１/',
    'https://[::1]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[0:0:0:0:0:ffff:7f00:1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b:1::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://localhost/',
    'https://LOCALHOST/',
    'https://localhost./',
    'https://a.localhost/',
    'https://0/',
    'https://0.0.0.0/',
    'https://[::]/',
  ],
  private: [
    'https://10.0.0.1/',
    'https://012.0.0.1/',
    'https://167772161/',
    'https://172.16.0.1/',
    'https://172.31.255.255/',
    'https://192.168.1.1/',
    'https://[::ffff:192.168.1.1]/',
    'https://[fc00::1]/',
    'https://[fd12:3456::1]/',
    'https://[fec0::1]/',
  ],
  metadata: [
    'https://169.254.169.254/latest/meta-data/',
    'https://2852039166/',
    'https://0xa9fea9fe/',
    'https://[::ffff:169.254.169.254]/',
    'https://[64:ff9b::a9fe:a9fe]/',
    'https://[fd00:ec2::254]/',
    'https://100.100.100.200/',
    'https://168.63.129.16/',
    'https://metadata.google.internal/',
    'https://metadata.google.internal./',
    'https://metadata/',
  ],
  'other networks': [
    'https://169.254.1.1/',
    'https://[fe80::1]/',
    'https://100.64.0.1/',
    'https://100.127.255.255/',
    'https://198.18.0.1/',
    'https://192.0.0.1/',
    'https://192.0.2.1/',
    'https://224.0.0.1/',
    'https://239.255.255.255/',
    'https://240.0.0.1/',
    'https://255.255.255.255/',
    'https://[ff02::1]/',
    'https://[100::1]/',
    'https://[2001:db8::1]/',
    'https://[2001::1]/',
    'https://[4000::1]/',
    'https://printer.local/',
    'https://router.home.arpa/',
    'https://intranet/',
  ],
  'other forms': [
    'http://example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,x',
    'gopher://example.com/',
    '//example.com/',
    '/hook',
    '',
    'https://',
    'https://user:secret@example.com/',
    'https://user@example.com/',
    `https://example.com/${'x'.repeat(2_048)}`,
    'https://[::1',
    'https://256.256.256.256/',
    'https://exa mple.com/',
  ],
};

for (const [kind, urls] of Object.entries(attacks)) {
  test.each(urls)(`refuses %s (${kind})`, (url) => {
    expect(() => parseTarget(url, none)).toThrow(expect.objectContaining({ code: 'http_url_rejected' }));
  });
}

test.each([
  'https://example.com/hook?x=1',
  'https://EXAMPLE.com:8443/hook',
  'https://8.8.8.8/',
  'https://134744072/',
  'https://[2606:4700::1111]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[64:ff9b::808:808]/',
  'https://bücher.example/',
])('lets %s pass', (url) => {
  expect(parseTarget(url, none)).toMatchObject({ isListed: false });
});

test('an origin of the operator passes exactly: scheme, host and port, and no other', () => {
  const listed = new Set(['http://127.0.0.1:8080']);
  expect(parseTarget('http://127.0.0.1:8080/any?path', listed).isListed).toBe(true);
  expect(parseTarget('http://2130706433:8080/', listed).isListed).toBe(true);
  for (const other of [
    'http://127.0.0.1:8081/',
    'http://127.0.0.1/',
    'https://127.0.0.1:8080/',
    'http://127.0.0.2:8080/',
    'http://127.0.0.1.example.com:8080/',
    'http://localhost:8080/',
    'http://x@127.0.0.1:8080/',
  ]) {
    expect(() => parseTarget(other, listed), other).toThrow(expect.objectContaining({ code: 'http_url_rejected' }));
  }
});

test('the refusal names the reason and the way out, and cuts what it quotes', () => {
  const long = `http://10.0.0.1/${'x'.repeat(500)}`;
  expect(() => parseTarget(long, none)).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/^.{0,220}must begin with https:, not http:\.$/),
      hint: expect.stringContaining('egress.allow'),
    }),
  );
});

test('a fragment is not sent along', () => {
  expect(parseTarget('https://example.com/a#b', none).url.href).toBe('https://example.com/a');
});
