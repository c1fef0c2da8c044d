import { UserError } from '../../../protocol/src/errors.ts';
import { parsePlace } from '../../../protocol/src/places.ts';
import { slurmChoice, type SlurmChoice } from '../../../protocol/src/slurmChoice.ts';
import { placeWords } from '../placeMessages.ts';

/**
 * Where the person's settings send the cards of a cluster; empty where they name nothing for its login node. Throws
 * `bad-message` for what has no form: cards then go nowhere rather than somewhere else.
 */
export function slurmSetting(setting: Readonly<Record<string, unknown>>, place: string): SlurmChoice {
  const { name = '' } = parsePlace(place) ?? {};
  if (!Object.hasOwn(setting, name)) return {};
  const parsed = slurmChoice.safeParse(setting[name]);
  if (parsed.success) return parsed.data;
  throw new UserError('bad-message', placeWords.noChoice(name), { remedy: placeWords.mendChoice() });
}
