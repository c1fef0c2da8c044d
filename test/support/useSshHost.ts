import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeHost, SshHost, type SshHostOptions } from './sshHost.ts';
import { hasSshd } from './sshPlace.ts';

export interface TestSshHost {
  /** Of this test. */
  readonly host: SshHost;
  /** Writes a configuration that calls it `lab` and knows its key; gives the file. */
  configure(): string;
}

/**
 * Starts sshds of a test below its folder, which are ended after it and after what hooks that were defined before end.
 * Where there is no sshd the suite is skipped.
 */
export function useSshHosts(folder: () => string): (more?: Partial<SshHostOptions>) => Promise<SshHost> {
  const hosts: SshHost[] = [];
  before(function () {
    if (hasSshd) return;
    console.log('No sshd here: install openssh-server to run these.');
    this.skip();
  });
  afterEach(async () => {
    for (const host of hosts.splice(0)) await removeHost(host);
  });
  return async (more = {}) => {
    const host = new SshHost({ folder: join(folder(), `host${hosts.length}`), ...more });
    hosts.push(host);
    await host.start();
    return host;
  };
}

/**
 * An sshd for each test, below its folder, ended after it and after what hooks that were defined before end. Where there
 * is no sshd the suite is skipped. `settings` are lines of sshd_config(5).
 */
export function useSshHost(folder: () => string, settings: readonly string[] = []): TestSshHost {
  let host: SshHost | undefined;
  const started = (): SshHost => {
    if (!host) throw new Error('The host is there within a test');
    return host;
  };
  const start = useSshHosts(folder);
  beforeEach(async () => {
    host = await start({ folder: join(folder(), 'host'), settings });
  });
  afterEach(() => {
    host = undefined;
  });
  return {
    get host() {
      return started();
    },
    configure: () => {
      const [known, config] = [join(folder(), 'known_hosts'), join(folder(), 'ssh_config')];
      writeFileSync(known, started().knownLine());
      const end = `Host *\n  UserKnownHostsFile ${known}\n  GlobalKnownHostsFile none\n`;
      writeFileSync(config, started().configBlock('lab') + end);
      return config;
    },
  };
}
