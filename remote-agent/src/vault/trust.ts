import { existsSync, readFileSync } from 'node:fs';
import * as tls from 'node:tls';

/** Where systems keep the authorities that they trust, as one file; the first one counts. */
const bundles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** The authorities that servers are checked against: those of this machine, else those that Node brings. */
export interface Trust {
  readonly pem: string;
  readonly context: tls.SecureContext;
}

let known: Trust | undefined;

/** What this machine trusts, with what NODE_EXTRA_CA_CERTS of the runner adds. Read once for the process. */
export function systemTrust(): Trust {
  known ??= createTrust([readBundle(), ...extraCertificates()].join('\n'));
  return known;
}

/** Throws where the text holds no certificate that can be read. */
export function createTrust(pem: string): Trust {
  return { pem, context: tls.createSecureContext({ ca: pem, minVersion: 'TLSv1.2' }) };
}

function readBundle(): string {
  const path = bundles.find((each) => existsSync(each));
  return path === undefined ? tls.rootCertificates.join('\n') : readFileSync(path, 'latin1');
}

/** Node knows them from 22.15 on; before, only the machine's own file counts. */
function extraCertificates(): string[] {
  const { getCACertificates } = tls as { getCACertificates?: (type: 'extra') => string[] };
  return getCACertificates?.('extra') ?? [];
}
