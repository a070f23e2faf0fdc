/**
 * The line that people see in place of a recovery message (`message.sent` with origin `recovery`). The message itself is for the
 * agent: it repeats a whole prompt or the results of tools, which people have already seen.
 */
export const RECOVERY_NOTICE =
  "The agent's answer was interrupted, so the bridge repeated to the agent what it may have missed";
