import assert from 'node:assert/strict';
import { isLocalHost } from '../../../../language-server/src/apps/localHost.ts';

describe('hosts that are pointed out as local', () => {
  const local = [
    'localhost',
    'localhost:3000',
    '*.localhost',
    '127.0.0.1',
    '127.0.0.1:8080',
    '10.0.0.7',
    '192.168.1.1:80',
    '172.16.0.1',
    '169.254.169.254',
    '[::1]',
    '[::1]:8080',
    '[fe80::1]',
    '[fd00::1]',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
    'printer',
    'nas.local',
    'x.internal',
    'box.lan',
    'router.home.arpa',
    '*.corp',
    '0x7f.1',
    '2130706433',
    'a b',
  ];
  const elsewhere = [
    'example.org',
    'api.example.org:8443',
    '*.example.org',
    '8.8.8.8',
    '[2606:4700::1111]',
    'localhost.example.org',
    'local.net',
  ];
  for (const host of local) it(`[APPS-04] ${host} is`, () => assert.equal(isLocalHost(host), true));
  for (const host of elsewhere) it(`[APPS-04] ${host} is not`, () => assert.equal(isLocalHost(host), false));
});
