import { portTypes, canWire, wirePattern, type PortType } from '../../../protocol/src/manifests.ts';
import { fixTitles, relatedTexts } from '../messages.ts';
import type { CardFacts, InputFact } from '../manifests/cardFacts.ts';
import { replaceFix } from '../manifests/edits.ts';
import { nearest } from '../manifests/nearest.ts';
import { mostProblems, problem, startOfFile } from '../manifests/problem.ts';
import { stronglyConnected } from './buildGraph.ts';
import { cyclePath } from './cyclePath.ts';
import type { Graph, Problem, Wire } from './model.ts';

/** A card's written wires and where its manifest is. */
export interface WiredCard {
  readonly id: string;
  readonly manifestPath: string;
  readonly facts: CardFacts;
}

/** What is wrong between cards, by card id. Cards whose text is broken cause no follow-up problems in others. */
export function checkWires(
  cards: ReadonlyMap<string, WiredCard>,
  graph: Graph,
  environmentSources: readonly string[],
): Map<string, Problem[]> {
  const found = new Map<string, Problem[]>();
  let guessesLeft = mostGuesses;
  const check: WireCheck = {
    cards,
    report: (id, each) => {
      const list = found.get(id) ?? [];
      found.set(id, list);
      if (list.length < mostProblems) list.push(each);
      else if (list.length === mostProblems)
        list.push(problem('too-many-problems', startOfFile, [mostProblems]));
    },
    isFull: (id) => (found.get(id)?.length ?? 0) > mostProblems,
    guess: (word, candidates) => (guessesLeft-- > 0 ? nearest(word, candidates) : undefined),
  };
  for (const card of cards.values()) {
    for (const [port, input] of card.facts.inputs)
      if (!check.isFull(card.id)) checkWire(card, port, input, check);
    for (const { id, at } of card.facts.environmentSources) {
      if (environmentSources.includes(id)) continue;
      const meant = check.guess(id, environmentSources);
      check.report(
        card.id,
        problem('unknown-source', at, [id, meant], meant ? replaceFix(at, meant) : undefined),
      );
    }
  }
  checkCycles(cards, graph, check);
  return found;
}

/** Misspelt names of one project that a guess is made for: each costs a comparison with every card. */
const mostGuesses = 50;

interface WireCheck {
  readonly cards: ReadonlyMap<string, WiredCard>;
  readonly report: (id: string, problem: Problem) => void;
  readonly isFull: (id: string) => boolean;
  readonly guess: (word: string, candidates: Iterable<string>) => string | undefined;
}

function checkWire(card: WiredCard, port: string, input: InputFact, check: WireCheck): void {
  const { cards, report, guess } = check;
  const { from, at } = input;
  if (from === undefined || !wirePattern.test(from)) return;
  const [fromCard = '', fromPort = ''] = from.split('/');
  const source = cards.get(fromCard);
  if (!source) {
    const meant = guess(fromCard, cards.keys());
    const fix = meant === undefined ? undefined : replaceFix(at, `${meant}/${fromPort}`);
    return report(card.id, problem('unknown-card', at, [fromCard, meant], fix));
  }
  const output = source.facts.outputs.get(fromPort);
  if (!output) {
    if (!source.facts.complete) return;
    const known = [...source.facts.outputs.keys()];
    const meant = guess(fromPort, known) ?? (known.length === 1 ? known[0] : undefined);
    const fix = meant === undefined ? undefined : replaceFix(at, `${fromCard}/${meant}`);
    return report(card.id, problem('unknown-port', at, [fromCard, fromPort, meant], fix));
  }
  if (!isPortType(output.type) || !isPortType(input.type) || canWire(output.type, input.type)) return;
  const to = `${card.id}/${port}`;
  const mismatch = [from, output.type, to, input.type] as const;
  const fix = input.typeAt && replaceFix(input.typeAt, output.type);
  report(card.id, {
    ...problem('wire-types', at, [...mismatch], fix),
    related: [{ path: source.manifestPath, ...output.at, message: relatedTexts.otherEnd(from, output.type) }],
  });
  report(source.id, {
    ...problem('wire-types', output.at, [...mismatch]),
    related: [{ path: card.manifestPath, ...at, message: relatedTexts.otherEnd(to, input.type) }],
  });
}

function isPortType(type: string | undefined): type is PortType {
  return (portTypes as readonly (string | undefined)[]).includes(type);
}

const mostRelated = 5;

/** One problem for each wire that closes a circle, with the circle as seen from its card. */
function checkCycles(cards: ReadonlyMap<string, WiredCard>, graph: Graph, check: WireCheck): void {
  if (graph.cyclic.size === 0) return;
  for (const group of stronglyConnected([...graph.cyclic], graph.wires)) {
    const members = new Set(group);
    const inside = graph.wires.filter((wire) => members.has(wire.fromCard) && members.has(wire.toCard));
    const path = cyclePath(group, inside);
    const shown = inside.slice(0, mostRelated + 1);
    for (const wire of inside) {
      const input = cards.get(wire.toCard)?.facts.inputs.get(wire.toPort);
      if (!input || check.isFull(wire.toCard)) continue;
      const others = shown.filter((other) => other !== wire).slice(0, mostRelated);
      const fix = { ...input.wire, title: fixTitles.removeWire(), text: '' };
      check.report(wire.toCard, {
        ...problem('cycle', input.at, [path(wire.toCard)], fix),
        related: others.flatMap((other) => placeOf(other, cards)),
      });
    }
  }
}

function placeOf(wire: Wire, cards: ReadonlyMap<string, WiredCard>): NonNullable<Problem['related']> {
  const card = cards.get(wire.toCard);
  const input = card?.facts.inputs.get(wire.toPort);
  if (!card || !input) return [];
  const message = relatedTexts.cycleWire(
    `${wire.fromCard}/${wire.fromPort}`,
    `${wire.toCard}/${wire.toPort}`,
  );
  return [{ path: card.manifestPath, ...input.at, message }];
}
