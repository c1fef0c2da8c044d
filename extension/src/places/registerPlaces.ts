import { window } from 'vscode';
import { findCard, parseTarget } from '../commandTarget.ts';
import { viewIds } from '../commandIds.ts';
import { together, type Disposable } from '../disposable.ts';
import { notices } from '../messages.ts';
import type { Services } from '../services.ts';
import { NodeTree } from '../views/nodeTree.ts';
import { ChoosePlace } from './choosePlace.ts';
import { openVmTerminal } from './openVmTerminal.ts';
import { ManagePlaces } from './managePlaces.ts';
import { placeNodes } from './placeNodes.ts';
import { PlacePicker } from './placePicker.ts';
import { askSecret, confirmHostKey, showChangedHostKey } from './placeQuestions.ts';
import { PlacesList } from './placesList.ts';
import { slurmSetting } from './slurmSetting.ts';
import { parsePlaceTarget } from './placeTarget.ts';
import { VmImage } from './vmImage.ts';
import { Workers } from './workers.ts';

/**
 * The Places view, every command about places, and the person's answers to what places ask: keys of hosts, passwords,
 * passphrases, codes. Only native windows ask.
 */
export function registerPlaces(services: Services): Disposable {
  const { commands, engine, log, notifier, picker, reports, settings, workerIdentity } = services;
  const list = new PlacesList(engine, log);
  const places = new PlacePicker(list, notifier);
  const manage = new ManagePlaces(engine, list, notifier);
  const image = new VmImage({ engine, list, notifier, reports });
  const workers = new Workers(engine, list, notifier);
  const choose = new ChoosePlace({ engine, list, notifier, enrol: () => workers.enrol() });
  const about =
    (act: (place: NonNullable<Awaited<ReturnType<typeof places.place>>>) => Promise<void>) =>
    async (...args: unknown[]): Promise<void> => {
      const place = await places.place(parsePlaceTarget(args));
      if (place) await act(place);
    };

  return together(
    list,
    registerView(services, list),
    engine.handle({
      'place/slurm': ({ place }) => slurmSetting(settings.slurm, place),
      'place/confirmHostKey': (question) => confirmHostKey(question),
      'place/changedHostKey': (change) => showChangedHostKey(change),
      'place/askSecret': (question, signal) => askSecret(question, signal),
      'worker/identity': async () => ({ publicKey: await workerIdentity.publicKey() }),
      'worker/sign': async ({ certificate }) => ({ signature: await workerIdentity.sign(certificate) }),
    }),
    commands.register('sallyport.choosePlace', async (...args) => {
      const target = parseTarget(args);
      const project = await picker.project(target);
      const card = findCard(project, target) ?? (await picker.card(project, target));
      if (card) await choose.run(card);
      else
        notifier.show(
          target.card === undefined ? notices.noCards(project.name) : notices.unknownCard(target.card),
        );
    }),
    commands.register(
      'sallyport.checkPlace',
      about((place) => manage.check(place)),
    ),
    commands.register(
      'sallyport.showHeldJobs',
      about((place) => manage.showHeld(place)),
    ),
    commands.register(
      'sallyport.disconnectPlace',
      about((place) => manage.disconnect(place)),
    ),
    commands.register('sallyport.openVmTerminal', async (...args) => {
      await openVmTerminal(engine, await picker.project(parseTarget(args)), false);
    }),
    commands.register('sallyport.openVmNetworkTerminal', async (...args) => {
      await openVmTerminal(engine, await picker.project(parseTarget(args)), true);
    }),
    commands.register('sallyport.buildVmImage', () => image.build()),
    commands.register('sallyport.showVmImage', () => image.show()),
    commands.register('sallyport.removeVmImage', () => image.remove()),
    commands.register('sallyport.enrolWorker', async () => {
      await workers.enrol();
    }),
    commands.register('sallyport.forgetWorker', (...args) => workers.forget(parsePlaceTarget(args))),
  );
}

function registerView({ engine, log, projects, presence }: Services, list: PlacesList): Disposable {
  let isStale = false;
  const tree = new NodeTree(async () => {
    try {
      const [known, open] = await Promise.all([list.known(), presence.isPresent ? projects.projects() : []]);
      return placeNodes(known, open, () => engine.call('doctor/report', {}));
    } catch (error) {
      log.error('Failed to show the places', error);
      return [];
    }
  });
  const view = window.createTreeView(viewIds.places, { treeDataProvider: tree, showCollapseAll: true });
  return together(
    tree,
    view,
    list.onDidChange(() => tree.refresh()),
    // A terminal may have built an image or joined a worker meanwhile.
    view.onDidChangeVisibility(() => {
      if (view.visible) list.forget();
    }),
    projects.onDidChange(() => tree.refresh()),
    engine.onDidChangeState((state) => {
      // What is known came from an engine that is gone; asking now would start the next one.
      if (state !== 'running') isStale = true;
      else if (isStale) {
        isStale = false;
        list.forget();
      }
    }),
  );
}
