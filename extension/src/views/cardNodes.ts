import type { CardView, PermissionView, PortView, ProjectView } from '../../../protocol/src/engine.ts';
import { duration, size, timestamp } from '../figures.ts';
import { labels, reasonText } from '../messages.ts';
import { plain, short } from '../plainText.ts';
import { cardDescription, shownState, stateIcons } from './cardText.ts';
import type { TreeNode } from './treeNode.ts';

/** The Cards view: the cards of the one project, or a line for each project with its cards below. */
export function cardNodes(projects: readonly ProjectView[]): TreeNode[] {
  const [only] = projects;
  if (projects.length === 1 && only) return only.cards.map((card) => cardNode(only.root, card));
  return projects.map((project) => ({
    id: project.root,
    label: plain(project.name),
    description: labels.cards(project.cards.length),
    tooltip: plain(project.root),
    icon: { name: 'folder' },
    kind: 'project',
    isExpanded: true,
    root: project.root,
    children: project.cards.map((card) => cardNode(project.root, card)),
  }));
}

function cardNode(root: string, card: CardView): TreeNode {
  const title = plain(card.title);
  const description = cardDescription(card);
  const waiting = card.permissions.filter((each) => !each.accepted).length;
  const state = shownState(card);
  return {
    id: `${root}\n${card.id}`,
    label: title,
    description,
    tooltip: [title, plain(card.description), description].filter((line) => line !== '').join('\n'),
    spoken: labels.spokenCard(title, description, waiting),
    icon: stateIcons[state],
    kind: waiting > 0 ? 'card.blocked' : 'card',
    root,
    card: card.id,
    children: cardDetails(root, card, waiting),
  };
}

function cardDetails(root: string, card: CardView, waiting: number): TreeNode[] {
  const id = (part: string) => `${root}\n${card.id}\n${part}`;
  const about = { root, card: card.id };
  const details: TreeNode[] = [];
  if (card.problems > 0) {
    details.push({
      ...about,
      id: id('problems'),
      label: labels.manifestErrors(card.problems),
      icon: stateIcons.problem,
      kind: 'problems',
      command: { id: 'sallyport.openManifest', title: labels.openManifest() },
    });
  }
  if (waiting > 0) {
    details.push({
      ...about,
      id: id('blocked'),
      label: labels.blockedBy(waiting),
      icon: stateIcons.blocked,
      kind: 'blocked',
      command: { id: 'sallyport.reviewPermissions', title: labels.review() },
    });
  }
  const reason = card.status?.reason;
  if (reason && reason.kind !== 'permission-needed') {
    const text = reasonText(reason);
    details.push({
      ...about,
      id: id('reason'),
      label: short(text, 200),
      tooltip: text,
      icon: { name: 'info' },
      kind: 'reason',
    });
  }
  details.push(...permissionNodes(card.permissions, id, about));
  details.push(...card.inputs.map((port) => inputNode(port, id, about)));
  details.push(...card.outputs.map((port) => outputNode(port, card.viewOutput === port.name, id, about)));
  const last = lastRunNode(card, id, about);
  return last ? [...details, last] : details;
}

type Id = (part: string) => string;
type About = Pick<TreeNode, 'root' | 'card'>;

function permissionNodes(permissions: readonly PermissionView[], id: Id, about: About): TreeNode[] {
  if (permissions.length === 0) {
    return [
      {
        ...about,
        id: id('closed'),
        label: labels.reachesNothing(),
        tooltip: labels.reachesNothingTooltip(),
        icon: { name: 'shield' },
        kind: 'closed',
      },
    ];
  }
  return permissions.map((each) => {
    const sentence = plain(each.sentence);
    const word = each.accepted ? labels.accepted() : labels.notAccepted();
    return {
      ...about,
      id: id(`permission ${each.key}`),
      label: sentence,
      description: word,
      tooltip: `${sentence}\n${word}`,
      icon: each.accepted
        ? { name: 'workspace-trusted', color: 'testing.iconPassed' }
        : { name: 'workspace-untrusted', color: 'problemsWarningIcon.foreground' },
      kind: each.accepted ? 'permission.accepted' : 'permission.waiting',
      permissionKey: each.key,
    };
  });
}

function inputNode(port: PortView, id: Id, about: About): TreeNode {
  return {
    ...about,
    id: id(`input ${port.name}`),
    label: labels.input(port.name),
    description:
      port.from === undefined
        ? labels.notWired(port.type, port.optional)
        : labels.fromCard(port.type, port.from),
    icon: { name: 'sign-in' },
    kind: 'input',
  };
}

function outputNode(port: PortView, isView: boolean, id: Id, about: About): TreeNode {
  return {
    ...about,
    id: id(`output ${port.name}`),
    label: labels.output(port.name),
    description: isView ? labels.shown(port.type) : port.type,
    icon: { name: isView ? 'graph' : 'sign-out' },
    kind: 'output',
  };
}

function lastRunNode(card: CardView, id: Id, about: About): TreeNode | undefined {
  const { status } = card;
  if (status?.finishedAt == null) return undefined;
  const description = labels.ranFor(
    duration(status.runMs ?? 0),
    duration(status.waitMs ?? 0),
    size(status.outputBytes),
  );
  return {
    ...about,
    id: id('last'),
    label: labels.lastRun(timestamp(status.finishedAt)),
    description,
    tooltip: [timestamp(status.finishedAt), description, status.isolation ?? '']
      .filter((line) => line !== '')
      .join('\n'),
    icon: { name: 'history' },
    kind: 'lastRun',
    runId: status.runId,
    command: { id: 'sallyport.openRun', title: labels.openRun() },
  };
}
