/** A slash command defined in the configuration: users type `/name` and the agent receives `prompt`. */
export interface AgentCommand {
  readonly name: string;
  readonly description: string;
  /** Describes the arguments to users, such as `BRANCH`. */
  readonly hint?: string;
  /**
   * Sent to the agent. The arguments replace `$ARGUMENTS`; without the placeholder they are appended after a blank
   * line.
   */
  readonly prompt: string;
}

/** Returns the prompt text of a command with its arguments filled in. */
export function expandCommandPrompt({ prompt }: AgentCommand, args: string): string {
  // A replacer function, because a replacement string would interpret `$&` and similar patterns in the arguments.
  if (prompt.includes(ARGUMENTS_PLACEHOLDER))
    return prompt.replaceAll(ARGUMENTS_PLACEHOLDER, () => args);
  return args === "" ? prompt : `${prompt}\n\n${args}`;
}

const ARGUMENTS_PLACEHOLDER = "$ARGUMENTS";
