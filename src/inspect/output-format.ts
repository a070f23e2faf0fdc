/** What a capture can be turned into. */
export const OUTPUT_FORMATS = ["text", "json", "events", "open-responses"] as const;

export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
