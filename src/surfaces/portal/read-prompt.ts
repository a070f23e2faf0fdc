import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import { SchemaError } from "../../data/schema-error.ts";
import { BUDGET_CAPS_SCHEMA } from "../../domain/budget.ts";
import { createImageBlock } from "../../domain/model/image-block.ts";
import type { PromptOptions } from "../../domain/prompt.ts";
import type { SubmittedPart } from "../../domain/session-command.ts";
import { createInvalidRequestError } from "../../http/routing/json-body.ts";
import { readOptionalObject, readOptionalString, readRequiredString } from "./request-body.ts";

/** Images per message. The session has the same limit. */
const MAX_IMAGES = 20;

/** Reads `text` and `images` of a prompt or message. A message needs text, images or both. */
export function readPromptContent(body: JsonObject): readonly SubmittedPart[] {
  const images = readImages(Object.hasOwn(body, "images") ? body["images"] : undefined);
  if (images.length === 0) return [{ type: "text", text: readRequiredString(body, "text") }];
  const text = readOptionalString(body, "text");
  return text === undefined ? images : [{ type: "text", text }, ...images];
}

/** Reads the budget of a prompt's turn. */
export function readPromptBudget(body: JsonObject): PromptOptions | undefined {
  const value = readOptionalObject(body, "budget");
  if (value === undefined) return undefined;
  try {
    return { budget: BUDGET_CAPS_SCHEMA(value, "budget") };
  } catch (error) {
    if (error instanceof SchemaError) throw createInvalidRequestError(error.issues[0].message);
    throw error;
  }
}

function readImages(value: JsonValue | undefined): readonly SubmittedPart[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw createInvalidRequestError(`"images" is not an array`);
  if (value.length > MAX_IMAGES)
    throw createInvalidRequestError(`"images" has more than ${MAX_IMAGES} images`);
  return value.map((image: unknown) => {
    if (!isObject(image)) throw createInvalidRequestError(`An image is not an object`);
    const { mediaType, data } = image;
    if (typeof mediaType !== "string" || typeof data !== "string")
      throw createInvalidRequestError(`An image needs "mediaType" and "data" (base64)`);
    return createImageBlock(mediaType, data);
  });
}
