import assert from 'node:assert/strict';
import {
  askSecret,
  confirmHostKey,
  showChangedHostKey,
} from '../../../../extension/src/places/placeQuestions.ts';
import { resetStub, stub } from '../../../support/vscodeStub.ts';
import { until } from '../../../support/until.ts';

const never = new AbortController().signal;
const key = {
  place: 'ssh:lab',
  host: 'lab.test',
  port: 2222,
  via: ['jump.test'],
  keyType: 'ssh-ed25519',
  fingerprint: 'SHA256:aaaa',
};
const secret = {
  place: 'ssh:lab',
  from: 'lab.test',
  kind: 'keyboard-interactive' as const,
  instructions: 'Second\u202e factor',
  prompts: [
    { text: 'Code: ', echo: false },
    { text: 'Name: ', echo: true },
  ],
};

describe('questions of places', () => {
  beforeEach(() => resetStub());

  it('a first host is connected to only for the one button, and its fingerprint is shown [SSH-08]', async () => {
    assert.deepEqual(await confirmHostKey(key), { accepted: false });
    stub.answer = 'Connect and Remember the Key';
    assert.deepEqual(await confirmHostKey(key), { accepted: true });
    assert.deepEqual(stub.shown[0]?.buttons, ['Connect and Remember the Key']);
    assert.match(stub.shown[0].text, /ssh:lab \(lab\.test:2222\)/);
  });

  it('a changed key offers nothing to accept: its only button closes it [K02]', async () => {
    await showChangedHostKey({
      ...key,
      known: [{ keyType: 'ssh-ed25519', fingerprint: 'SHA256:bbbb', where: 'known_hosts:3' }],
    });
    assert.equal(stub.shown[0]?.severity, 'error');
    assert.deepEqual(stub.shown[0].buttons, []);
  });

  it('asks each prompt of a host, hides what is not to be seen, and shows what came from it escaped [SSH-08]', async () => {
    const answered = askSecret(secret, never);
    const [code] = stub.boxes;
    assert.ok(code);
    assert.equal(code.password, true);
    assert.match(code.prompt, /Second\\u\{202E\} factor — Code: /);
    code.value = '123456';
    code.accepted.fire(undefined);
    await until(() => stub.boxes.length === 2);
    const name = stub.boxes[1];
    assert.equal(name?.password, false);
    name.value = 'who';
    name.accepted.fire(undefined);
    assert.deepEqual(await answered, { answers: ['123456', 'who'] });
  });

  it('declines where a person closes a question, and where the engine takes it back [SSH-08]', async () => {
    const closed = askSecret(secret, never);
    stub.boxes[0]?.dispose();
    assert.deepEqual(await closed, { answers: null });
    const stop = new AbortController();
    const taken = askSecret(secret, stop.signal);
    stop.abort();
    assert.deepEqual(await taken, { answers: null });
    assert.deepEqual(await askSecret(secret, stop.signal), { answers: null });
  });
});
