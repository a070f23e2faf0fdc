import type { JsonObject } from "../../../data/json.ts";

/** A piece of a prompt, as ACP has it. Which kinds beside text and links an agent takes, it says at `initialize`. */
export type PromptBlock = (
  | TextBlock
  | MediaBlock
  | { readonly type: "resource"; readonly resource: ResourceText | ResourceBytes }
  | LinkBlock
) & {
  readonly annotations?: JsonObject;
  readonly _meta?: JsonObject;
};

// Types and no interfaces: these have an index for whoever writes them down.

type TextBlock = { readonly type: "text"; readonly text: string };

type MediaBlock = {
  readonly type: "image" | "audio";
  /** In base64. */
  readonly data: string;
  readonly mimeType: string;
  /** Where a picture is from. */
  readonly uri?: string;
};

/** Something that is not in the prompt. */
type LinkBlock = {
  readonly type: "resource_link";
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** In bytes. */
  readonly size?: number;
};

type ResourceText = {
  readonly uri: string;
  readonly text: string;
  readonly mimeType?: string;
};

type ResourceBytes = {
  readonly uri: string;
  /** In base64. */
  readonly blob: string;
  readonly mimeType?: string;
};
