import { describe, expect, it } from 'vitest';
import { isPublicAddress, parseTarget } from '../../src/egress/addresses.ts';

const PRIVATE = {
  'this network': ['0.0.0.0', '0.1.2.3'],
  'this machine': ['127.0.0.1', '127.255.255.254', '::', '::1'],
  'private networks': ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12::1'],
  'shared by a provider': ['100.64.0.1', '100.127.255.255'],
  'link-local': ['169.254.0.1', 'fe80::1', 'febf::1', 'fec0::1', 'feff::1'],
  'protocols and tests': [
    '192.0.0.8',
    '192.0.2.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
  ],
  'multicast, reserved, broadcast': ['224.0.0.1', '239.1.1.1', '240.0.0.1', '255.255.255.255', 'ff02::1'],
  'stand for another': [
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::1',
    '2001:0:1::1',
  ],
  'no part of the public IPv6 network': ['100::1', '2001:db8::1', '3fff::1', '4000::1', '5f00::1', '8000::1'],
  'services of clouds': ['169.254.169.254', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254'],
  'no address': ['', 'localhost', '1.2.3', '1.2.3.4.5', '1.2.3.4 ', '8.8.8.8:80'],
};

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.215.14',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '192.169.0.1',
  '2606:4700::1111',
  '2a00:1450::1',
];

describe('an address', () => {
  it.each(Object.entries(PRIVATE))('is not public: %s', (_why, addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([]);
  });

  it('is public otherwise', () => {
    expect(PUBLIC.filter((address) => !isPublicAddress(address))).toEqual([]);
  });
});

const refusalOf = (address: string): string | undefined => {
  try {
    parseTarget(address, { hasAddress: isPublicAddress, hasName: () => false });
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe('a target', () => {
  it.each([
    // The same host in other forms: decimal, octal, hexadecimal, short, full-width, percent-encoded.
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://0x7f.1/',
    'http://0x7f000001',
    'http://127.1/',
    'http://0/',
    'http://127.0.0.1./',
    'http://１２７.0.0.1/',
    'http://%31%32%37.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[0:0:0:0:0:ffff:7f00:1]/',
    'http://[64:ff9b::169.254.169.254]/',
    // Different parsers could find different hosts in these.
    'http://127.0.0.1\\@1.1.1.1/',
    'http://1.1.1.1 &@127.0.0.1# @1.1.1.1/',
    'http://1.1.1.1@127.0.0.1/',
    'http://127.0.0.1#@1.1.1.1/',
    'ht\ntp://127.0.0.1/',
    'http://127.0.\t0.1/',
    // Names that do not exist in the public network.
    'http://localhost/',
    'http://LOCALHOST./',
    'http://a.localhost/',
    'http://intranet/',
    'http://printer.local/',
    'http://metadata.google.internal/computeMetadata/v1/',
    // Other protocols, secrets in the address, and invalid addresses.
    'file:///etc/passwd',
    'ftp://example.com/',
    'gopher://example.com/',
    'data:text/plain,hello',
    'javascript:alert(1)',
    'https://user:password@example.com/',
    'https://user@example.com/',
    '//example.com/',
    'example.com',
    'http://',
    '',
  ])('is refused: %j', (address) => {
    expect(refusalOf(address)).toBe('address_refused');
  });

  it.each([
    'https://example.com/hook?x=1',
    'http://example.com:8080/',
    'https://evil-localhost.example/',
    'https://localhost.example.com/',
    'https://bücher.example/',
    'http://8.8.8.8/',
    'http://[2606:4700::1111]/',
  ])('is accepted: %s', (address) => {
    expect(refusalOf(address)).toBeUndefined();
  });
});
