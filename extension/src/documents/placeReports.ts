import { l10n } from 'vscode';
import type { PlaceView, VmStatus } from '../../../protocol/src/places.ts';
import { size, timestamp } from '../figures.ts';
import { placeFigures, placeName, placeStateWord, troubleOf } from '../placeViewMessages.ts';
import { plain } from '../plainText.ts';
import { columns } from './columns.ts';
import type { Report } from './reportTexts.ts';

const t = l10n.t;

/** What is in the VM image: packages with sizes and licences; undefined where there is none. */
export function vmImageReport({ image }: VmStatus, accelerator?: 'kvm' | 'tcg'): Report | undefined {
  if (!image) return undefined;
  const title = t('VM Image');
  const head = [t('package'), t('version'), t('size'), t('licences')];
  const rows = image.packages.map(({ name, version, sizeBytes, licences }) => [
    plain(name),
    plain(version),
    size(sizeBytes),
    licences.length > 0 ? plain(licences.join(', ')) : t('see its copyright file'),
  ]);
  const speed = {
    kvm: t('VMs run on this computer’s own virtualisation (KVM).'),
    tcg: t(
      'No VM boots with KVM here: QEMU translates every instruction, which is several times slower and no less sealed.',
    ),
  };
  const parts = [
    t(
      'Built {0}, {1} on disk, {2} packages of this computer’s distribution, Node {3}.',
      timestamp(image.builtAt),
      size(image.sizeBytes),
      image.packages.length,
      plain(image.node),
    ),
    ...(image.isOutdated ? [t('Another version of Sallyport built it. Build it again.')] : []),
    ...(accelerator ? [speed[accelerator]] : []),
    columns([head, ...rows]),
  ];
  return { title, text: `${title}\n${'='.repeat(title.length)}\n\n${parts.join('\n\n')}\n` };
}

/** True where cards can run there as things stand. */
export function isUsable({ state, facts }: PlaceView): boolean {
  return state === 'ready' && facts?.isolation.kind !== 'none';
}

/** What Doctor says of each place: usable or not, and what to do. */
export function placesPart(places: readonly PlaceView[]): string {
  const lines = places.map((place) => {
    const isGood = isUsable(place);
    const head = `[${isGood ? t('ok') : t('failed')}] ${placeName(place.id)}`;
    const said = isGood ? [placeFigures(place)] : [placeStateWord(place), ...troubleOf(place)];
    return [head, ...said.map((line) => `    ${line}`)].join('\n');
  });
  return [t('Other places'), ...lines].join('\n');
}
