/** What a line that starts with `/` does instead of being sent. */
export type SlashAct = 'plan' | 'act' | 'compact' | 'new' | 'undo' | 'sent' | 'rules';

export interface SlashCommand {
  readonly name: SlashAct;
  readonly detail: string;
}

export const slashCommands: readonly SlashCommand[] = [
  { name: 'plan', detail: 'Read and plan only: nothing is changed or run' },
  { name: 'act', detail: 'Change and run, within what you allow' },
  { name: 'compact', detail: 'Shorten the conversation; the summary stays readable' },
  { name: 'new', detail: 'Start a new conversation' },
  { name: 'undo', detail: 'Undo what the last turn changed' },
  { name: 'sent', detail: 'Show each request as it was sent to the model' },
  { name: 'rules', detail: 'Show the rules files that are sent along' },
];

/** The command that a message is, or undefined: then it is a message. */
export function slashCommandOf(text: string): SlashCommand | undefined {
  const name = /^\/(\S+)\s*$/.exec(text)?.[1];
  return slashCommands.find((command) => command.name === name);
}

/** The commands that begin with what is typed; undefined where nothing of the kind is typed. */
export function matchingCommands(text: string): readonly SlashCommand[] | undefined {
  const typed = /^\/(\S*)$/.exec(text)?.[1];
  if (typed === undefined) return undefined;
  return slashCommands.filter(({ name }) => name.startsWith(typed.toLowerCase()));
}
