import type { JsonObject } from "../../../data/json.ts";

/**
 * A content block of a prompt, in ACP's format. Agents accept text and links, and declare further block types at
 * `initialize`.
 */
export type PromptBlock = (
  | TextBlock
  | MediaBlock
  | { readonly type: "resource"; readonly resource: ResourceText | ResourceBytes }
  | LinkBlock
) & {
  readonly annotations?: JsonObject;
  readonly _meta?: JsonObject;
};

// Types, not interfaces: only type aliases are assignable to `JsonObject`.

type TextBlock = { readonly type: "text"; readonly text: string };

type MediaBlock = {
  readonly type: "image" | "audio";
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  /** The origin of an image. */
  readonly uri?: string;
};

/** A link to content outside the prompt. */
type LinkBlock = {
  readonly type: "resource_link";
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** Bytes. */
  readonly size?: number;
};

type ResourceText = {
  readonly uri: string;
  readonly text: string;
  readonly mimeType?: string;
};

type ResourceBytes = {
  readonly uri: string;
  /** Base64. */
  readonly blob: string;
  readonly mimeType?: string;
};
