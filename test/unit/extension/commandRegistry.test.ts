import assert from 'node:assert/strict';
import { CommandRegistry } from '../../../extension/src/commandRegistry.ts';
import { createNotifier } from '../../../extension/src/notifier.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

describe('commands', () => {
  const logged: string[] = [];
  const log = {
    info: () => undefined,
    warn: (text: string) => void logged.push(text),
    error: (text: string) => void logged.push(text),
    show: () => undefined,
  };
  const run: string[] = [];
  const notifier = createNotifier(
    log,
    async (id) => void run.push(id),
    (text) => text,
  );

  beforeEach(() => {
    resetStub();
    logged.length = 0;
    run.length = 0;
  });

  it('answer whatever their handler throws, and hand nothing on', async () => {
    const errors: unknown[] = [];
    const registry = new CommandRegistry((_id, error) => void errors.push(error));
    const registration = registry.register('sallyport.doctor', () => Promise.reject(new Error('x')));
    assert.equal(await stub.commands.get('sallyport.doctor')?.(), undefined);
    assert.equal(errors.length, 1);
    registration.dispose();
    assert.equal(stub.commands.size, 0);
  });

  it('show a cancel as nothing', async () => {
    notifier.showError(new UserError('cancelled', ''));
    assert.deepEqual(stub.shown, []);
  });

  it('show an error that is no UserError as one general sentence and log it', async () => {
    notifier.showError(new TypeError('secret detail'));
    assert.equal(stub.shown.length, 1);
    assert.doesNotMatch(stub.shown[0]?.text ?? '', /secret detail/);
    assert.equal(logged.length, 1);
  });

  it('run the action that a person presses, and only then', async () => {
    notifier.showError(new UserError('closed', ''));
    assert.deepEqual(run, []);
    stub.answer = 'Restart Engine';
    notifier.showError(new UserError('closed', ''));
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(run, ['sallyport.restartEngine']);
  });
});
