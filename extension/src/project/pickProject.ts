import { window } from 'vscode';
import type { CardView, ProjectView } from '../../../protocol/src/engine.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { findCard, findProject, type CommandTarget } from '../commandTarget.ts';
import { choose } from '../messages.ts';
import { plain } from '../plainText.ts';
import { cardDescription } from '../views/cardText.ts';
import type { ProjectPresence } from './projectPresence.ts';
import type { ProjectStore } from './projectStore.ts';

/** Finds the project or card that a command is about, and asks where several fit. */
export class ProjectPicker {
  readonly #store: ProjectStore;
  readonly #presence: ProjectPresence;

  constructor(store: ProjectStore, presence: ProjectPresence) {
    this.#store = store;
    this.#presence = presence;
  }

  /**
   * The project named by the target, else the one of the active editor, else the only one, else the one chosen.
   * Throws `UserError`: `no-project`, `cancelled`. Without a project the engine is not started.
   */
  async project(target: CommandTarget): Promise<ProjectView> {
    if (!(await this.#presence.check())) throw new UserError('no-project', 'No project is open');
    const projects = await this.#store.projects();
    const named = findProject(projects, target);
    if (named) return named;
    const [only] = projects;
    if (!only) throw new UserError('no-project', 'No project is open');
    if (projects.length === 1) return only;
    const active = findProject(projects, { path: activePath() });
    if (active && target.root === undefined) return active;
    const items = projects.map((project) => ({
      label: plain(project.name),
      description: plain(project.root),
      project,
    }));
    const chosen = await window.showQuickPick(items, { placeHolder: choose.project() });
    if (!chosen) throw new UserError('cancelled', 'No project was chosen');
    return chosen.project;
  }

  /**
   * The card named by the target, else the one whose file is in the active editor, else the one chosen. Undefined where
   * the target names one that is not there or the project has none. Throws `cancelled`.
   */
  async card(project: ProjectView, target: CommandTarget): Promise<CardView | undefined> {
    const named = findCard(project, target);
    if (named || target.card !== undefined) return named;
    const active = findCard(project, { path: activePath() });
    if (active) return active;
    if (project.cards.length === 0) return undefined;
    const items = project.cards.map((card) => ({
      label: plain(card.title),
      description: cardDescription(card),
      card,
    }));
    const chosen = await window.showQuickPick(items, {
      placeHolder: choose.card(),
      matchOnDescription: true,
    });
    if (!chosen) throw new UserError('cancelled', 'No card was chosen');
    return chosen.card;
  }
}

function activePath(): string | undefined {
  const uri = window.activeTextEditor?.document.uri;
  return uri?.scheme === 'file' ? uri.fsPath : undefined;
}
