import assert from 'node:assert/strict';
import { placeEdit } from '../../../../language-server/src/manifests/placeEdit.ts';
import { ChoosePlace } from '../../../../extension/src/places/choosePlace.ts';
import { PlacesList } from '../../../../extension/src/places/placesList.ts';
import type { Log } from '../../../../extension/src/log.ts';
import type { Notice } from '../../../../extension/src/messages.ts';
import { FakeEngine } from '../../../support/fakeEngine.ts';
import { makeCard } from '../../../support/sampleViews.ts';
import { until } from '../../../support/until.ts';
import { resetStub, stub, window, workspace, type WorkspaceEdit } from '../../../support/vscodeStub.ts';

/** A document in an editor; positions are its offsets. */
class FakeDocument {
  text: string;
  isDirty: boolean;
  version = 1;
  saves = 0;
  readonly uri = {};

  constructor(text: string, isDirty: boolean) {
    this.text = text;
    this.isDirty = isDirty;
  }
  getText = (): string => this.text;
  positionAt = (offset: number): number => offset;
  save = async (): Promise<boolean> => {
    this.saves++;
    return true;
  };
}

describe('the change that choosing a place makes', () => {
  function make(isDirty: boolean, onShow: (document: FakeDocument) => void = () => undefined) {
    resetStub();
    const shown: Notice[] = [];
    const document = new FakeDocument('{\n  "version": 1\n}\n', isDirty);
    Object.assign(workspace, {
      openTextDocument: async () => document,
      applyEdit: async ({ replaced }: WorkspaceEdit) => {
        for (const { range, text } of replaced.toReversed())
          document.text =
            document.text.slice(0, range.start as number) + text + document.text.slice(range.end as number);
        return true;
      },
    });
    Object.assign(window, {
      showTextDocument: async () => {
        onShow(document);
        return { selection: undefined, revealRange: () => undefined };
      },
    });
    const fake = new FakeEngine({
      'place/choices': () => ({ kinds: ['local', 'vm', 'ssh', 'worker', 'slurm'], sshHosts: ['lab'] }),
      'place/list': () => [],
      'worker/list': () => [],
      'vm/status': () => ({ image: null }),
      'place/edit': ({ text, place }: { text: string; place: string }) => ({ edits: placeEdit(text, place) }),
    });
    const choose = new ChoosePlace({
      engine: fake.engine,
      list: new PlacesList(fake.engine, {} as Log),
      notifier: {
        show: (notice) => void shown.push(notice),
        showError: (error) => assert.fail(String(error)),
      },
      enrol: async () => ({ name: 'big', host: 'big.test', port: 7337, fingerprint: 'SHA256:aaaa' }),
    });
    const pick = async (count: number, label: string) => {
      await until(() => stub.picks.length === count);
      stub.picks.at(-1)!.choose(label);
    };
    const placed = () => /"executionService": "(.*)"/.exec(document.text)?.[1];
    return { choose, document, pick, placed, shown };
  }
  afterEach(() => {
    for (const name of ['openTextDocument', 'applyEdit']) Reflect.deleteProperty(workspace, name);
    Reflect.deleteProperty(window, 'showTextDocument');
  });

  it('[PLACEUI-02] is saved where nothing else would be', async () => {
    const { choose, document, pick, placed } = make(false);
    const done = choose.run(makeCard());
    await pick(1, 'lab over SSH');
    await done;
    assert.equal(placed(), 'ssh:lab');
    assert.equal(document.saves, 1);
  });

  it('[PLACEUI-02] leaves a manifest unsaved that has other changes, and says so', async () => {
    const { choose, document, pick, placed, shown } = make(true);
    const done = choose.run(makeCard());
    await pick(1, 'VM on this computer');
    await done;
    assert.equal(placed(), 'vm');
    assert.equal(document.saves, 0);
    assert.match(shown[0]?.text ?? '', /other changes that are not saved/);
    assert.equal(shown[1]?.action?.command, 'sallyport.buildVmImage');
  });

  it('[PLACEUI-02] is not made where the manifest changed meanwhile', async () => {
    const { choose, document, pick, placed, shown } = make(false, (each) => {
      each.version++;
    });
    const done = choose.run(makeCard());
    await pick(1, 'lab over SSH');
    await done;
    assert.equal(placed(), undefined);
    assert.equal(document.saves, 0);
    assert.match(shown[0]?.text ?? '', /nothing was changed/);
  });

  it('[PLACEUI-02] takes a typed host of a cluster, and nothing that is no name of a host', async () => {
    const { choose, pick, placed } = make(false);
    const done = choose.run(makeCard());
    await pick(1, 'A Cluster with Slurm');
    await pick(2, 'Another Host');
    await until(() => stub.boxes.length === 1);
    stub.boxes[0]!.enter('-oProxyCommand=x');
    assert.match(stub.boxes[0]!.validationMessage ?? '', /A name of letters/);
    stub.boxes[0]!.enter('head.test');
    await done;
    assert.equal(placed(), 'slurm:head.test');
  });

  it('[PLACEUI-05] goes to a worker that was just enrolled at', async () => {
    const { choose, pick, placed } = make(false);
    const done = choose.run(makeCard());
    await pick(1, 'Enrol at a Worker');
    await done;
    assert.equal(placed(), 'worker:big');
  });
});
