import { portTypes, canWire, wirePattern, type PortType } from '../../../protocol/src/manifests.ts';
import { fixTitles, relatedTexts } from '../messages.ts';
import type { CardFacts, InputFact } from '../manifests/cardFacts.ts';
import { replaceFix } from '../manifests/edits.ts';
import { nearest } from '../manifests/nearest.ts';
import { problem } from '../manifests/problem.ts';
import { stronglyConnected } from './buildGraph.ts';
import { cyclePath } from './cyclePath.ts';
import type { Graph, Problem } from './model.ts';

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
  const report = (id: string, each: Problem) => {
    const list = found.get(id);
    if (list) list.push(each);
    else found.set(id, [each]);
  };
  for (const card of cards.values()) {
    for (const [port, input] of card.facts.inputs) checkWire(card, port, input, cards, report);
    for (const { id, at } of card.facts.environmentSources) {
      if (environmentSources.includes(id)) continue;
      const meant = nearest(id, environmentSources);
      report(card.id, problem('unknown-source', at, [id, meant], meant ? replaceFix(at, meant) : undefined));
    }
  }
  checkCycles(cards, graph, report);
  return found;
}

type ReportFor = (id: string, problem: Problem) => void;

function checkWire(
  card: WiredCard,
  port: string,
  input: InputFact,
  cards: ReadonlyMap<string, WiredCard>,
  report: ReportFor,
): void {
  const { from, at } = input;
  if (from === undefined || !wirePattern.test(from)) return;
  const [fromCard = '', fromPort = ''] = from.split('/');
  const source = cards.get(fromCard);
  if (!source) {
    const meant = nearest(fromCard, cards.keys());
    const fix = meant === undefined ? undefined : replaceFix(at, `${meant}/${fromPort}`);
    return report(card.id, problem('unknown-card', at, [fromCard, meant], fix));
  }
  const output = source.facts.outputs.get(fromPort);
  if (!output) {
    if (!source.facts.complete) return;
    const known = [...source.facts.outputs.keys()];
    const meant = nearest(fromPort, known) ?? (known.length === 1 ? known[0] : undefined);
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
function checkCycles(cards: ReadonlyMap<string, WiredCard>, graph: Graph, report: ReportFor): void {
  if (graph.cyclic.size === 0) return;
  for (const group of stronglyConnected([...graph.cyclic], graph.wires)) {
    const members = new Set(group);
    const inside = graph.wires.filter((wire) => members.has(wire.fromCard) && members.has(wire.toCard));
    const path = cyclePath(group, inside);
    for (const wire of inside) {
      const input = cards.get(wire.toCard)?.facts.inputs.get(wire.toPort);
      if (!input) continue;
      const related = inside
        .filter((other) => other !== wire)
        .slice(0, mostRelated)
        .flatMap((other) => {
          const far = cards.get(other.toCard);
          const place = far?.facts.inputs.get(other.toPort);
          const message = relatedTexts.cycleWire(
            `${other.fromCard}/${other.fromPort}`,
            `${other.toCard}/${other.toPort}`,
          );
          return far && place ? [{ path: far.manifestPath, ...place.at, message }] : [];
        });
      const fix = { ...input.wire, title: fixTitles.removeWire(), text: '' };
      report(wire.toCard, { ...problem('cycle', input.at, [path(wire.toCard)], fix), related });
    }
  }
}
