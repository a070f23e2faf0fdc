/** Prompts for new users. The demo agent runs a tool after asking a person. */
export const APPROVAL_PROMPTS = [
  "Please save a note: buy milk",
  "Please save a note: call Ada at nine",
];

/** Prompts for an empty session. The demo agent answers each, and asks a person about the first. */
export const EXAMPLE_PROMPTS = [
  "Please save a note: buy milk",
  "What time is it?",
  "How much is 6 times 7?",
  "Which tools do you have?",
];
