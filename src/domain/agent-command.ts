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
export function commandPrompt({ prompt }: AgentCommand, given: string): string {
  // A function: in a text that is put in place, `$&` and the like would mean something.
  if (prompt.includes(PLACE)) return prompt.replaceAll(PLACE, () => given);
  return given === "" ? prompt : `${prompt}\n\n${given}`;
}

const PLACE = "$ARGUMENTS";
