import { workspace, type TextDocument } from 'vscode';
import {
  appManifestNames,
  looksLikeAppManifest,
  manifestLanguage,
} from '../../protocol/src/manifestLanguage.ts';
import { together, type Disposable } from './disposable.ts';
import type { EngineState } from './engineClient.ts';
import { notices } from './messages.ts';
import { restartLimits } from './restartPolicy.ts';
import type { Services } from './services.ts';

/**
 * When the engine lives: from the first moment that a project or a manifest is open or a command needs it. Tells it of trust, keeps
 * what is shown in step with it, and says so where it died for good.
 */
export function registerEngineLife(services: Services): Disposable {
  const { engine, projects, presence, commands, notifier, log } = services;
  const quietly = (what: string, work: Promise<unknown>): void => {
    work.catch((error: unknown) => log.error(what, error));
  };
  let wasRunning = false;

  const onState = (state: EngineState): void => {
    quietly('Failed to set a context', commands.setContext('sallyport.engineStopped', state === 'gave-up'));
    if (state === 'running') {
      wasRunning = true;
      if (workspace.isTrusted)
        quietly('Failed to tell of trust', engine.notify('trust/set', { trusted: true }));
      if (presence.isPresent) quietly('Failed to list the projects', projects.projects());
    } else if (state === 'gave-up') {
      projects.forget(true);
      notifier.show(notices.engineGaveUp(restartLimits.deaths, restartLimits.windowMinutes));
    } else if (wasRunning) {
      projects.forget(false);
    }
  };
  const onPresence = (isPresent: boolean): void => {
    quietly('Failed to set a context', commands.setContext('sallyport.hasProject', isPresent));
    if (isPresent && engine.state !== 'gave-up') quietly('Failed to list the projects', projects.refresh());
  };

  const onDocument = (document: TextDocument): void => {
    if (engine.state !== 'idle' || document.uri.scheme !== 'file' || !isManifest(document)) return;
    quietly('Failed to list the projects', projects.projects());
  };

  quietly('Failed to look for projects', presence.check());
  workspace.textDocuments.forEach(onDocument);
  return together(
    engine.onDidChangeState(onState),
    presence.onDidChange(onPresence),
    workspace.onDidOpenTextDocument(onDocument),
    engine.on('engine/notice', ({ code, message }) => {
      log.warn(`${code}: ${message}`);
      notifier.show(notices.engineNotice(message));
    }),
    workspace.onDidGrantWorkspaceTrust(() =>
      quietly('Failed to tell of trust', engine.notify('trust/set', { trusted: true })),
    ),
    commands.register('sallyport.restartEngine', async () => {
      await engine.restart();
      notifier.show(notices.engineRestarted());
    }),
    commands.register('sallyport.showLog', () => log.show()),
  );
}

/** A manifest by its language, or by its name where the text reads like an app's: other programs have such files too. */
function isManifest(document: TextDocument): boolean {
  if (document.languageId === manifestLanguage) return true;
  const name = document.uri.path.slice(document.uri.path.lastIndexOf('/') + 1);
  const kind = Object.entries(appManifestNames).find(([known]) => known === name)?.[1];
  return kind !== undefined && looksLikeAppManifest(kind, document.getText());
}
