/**
 * Shown to people in place of a recovery message (`message.sent` with origin `recovery`). The message itself is for the
 * agent: it repeats a whole prompt or tool results, which people have already seen.
 */
export const RECOVERY_NOTICE =
  "The agent's response was interrupted, so the bridge repeated the input the agent may have missed";
