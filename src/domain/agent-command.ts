/** Something that people can have said to an agent by a word: its name with `/` before it. */
export interface AgentCommand {
  readonly name: string;
  readonly description: string;
  /** What may follow the name, for people. */
  readonly hint?: string;
  /** What the agent is told. `$ARGUMENTS` stands for what followed the name; without it that comes behind. */
  readonly prompt: string;
}

/** What the agent is told for a command with these arguments. */
export function expandCommandPrompt({ prompt }: AgentCommand, args: string): string {
  // A function: in a text that is put in place, `$&` and the like would mean something.
  if (prompt.includes(ARGUMENTS_PLACEHOLDER))
    return prompt.replaceAll(ARGUMENTS_PLACEHOLDER, () => args);
  return args === "" ? prompt : `${prompt}\n\n${args}`;
}

const ARGUMENTS_PLACEHOLDER = "$ARGUMENTS";
