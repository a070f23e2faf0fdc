import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import {
  accept,
  readHarnMeta,
  readObject,
  readObjects,
  readString,
  readStrings,
  rejectParams,
  type DecodeResult,
} from "../json-fields.ts";

/** An agent's question to the user: a form with one field or several. */
export interface QuestionRequest {
  readonly sessionId: string | null;
  /** The id of the question at a bridge, for `harn.hitl.respond`. Null if the agent is not a bridge. */
  readonly id: string | null;
  readonly toolCallId?: string;
  readonly message: string;
  /** The JSON schema of the form. `fields` has the same content, for display. */
  readonly schema: JsonObject;
  readonly fields: readonly QuestionField[];
}

export interface QuestionField {
  readonly name: string;
  readonly label: string;
  readonly description: string | null;
  /** `string`, `number`, `integer`, `boolean`, `array` (several of the choices), or a type of a later version. */
  readonly type: string;
  readonly isRequired: boolean;
  /** The possible values. Empty: any value of the type. */
  readonly choices: readonly QuestionChoice[];
  readonly default?: JsonValue;
}

export interface QuestionChoice {
  readonly value: string;
  readonly label: string;
}

/** A user's reply to a question. The answer to a form with several fields is an object with their values. */
export type QuestionReply = { readonly answer: JsonValue } | "decline";

/** Reads the params of `elicitation/create`. Only forms are supported. */
export function readQuestionRequest(params: JsonValue | undefined): DecodeResult<QuestionRequest> {
  if (!isObject(params)) return rejectParams("they are not an object");
  const { mode = "form", message, requestedSchema: schema } = params;
  if (mode !== "form") return rejectParams('"mode" is not supported: expected "form"');
  if (typeof message !== "string") return rejectParams('"message" is missing');
  if (!isObject(schema)) return rejectParams('"requestedSchema" is missing');
  return accept({
    sessionId: readString(params["sessionId"]) ?? null,
    id: readString(readHarnMeta(params)["requestId"]) ?? null,
    ...omitUndefined({ toolCallId: readString(params["toolCallId"]) }),
    message,
    schema,
    fields: readFields(schema),
  });
}

function readFields(schema: JsonObject): readonly QuestionField[] {
  const required = readStrings(schema["required"]);
  return Object.entries(readObject(schema["properties"])).map(([name, value]) => {
    const field = readObject(value);
    const type = readString(field["type"]) ?? "string";
    return {
      name,
      label: readString(field["title"]) ?? name,
      description: readString(field["description"]) ?? null,
      type,
      isRequired: required.includes(name),
      choices: readChoices(type === "array" ? readObject(field["items"]) : field),
      ...omitUndefined({ default: field["default"] }),
    };
  });
}

function readChoices({ enum: values, oneOf, anyOf }: JsonObject): readonly QuestionChoice[] {
  if (values !== undefined) return readStrings(values).map((value) => ({ value, label: value }));
  return readObjects(oneOf ?? anyOf).flatMap(({ const: value, title }) =>
    typeof value === "string" ? [{ value, label: readString(title) ?? value }] : [],
  );
}

/** Encodes a reply. A value which is not an object is the answer to the first field. */
export function encodeQuestionResult(
  { fields }: QuestionRequest,
  reply: QuestionReply,
): JsonObject {
  if (reply === "decline") return { action: "decline" };
  const { answer } = reply;
  if (isObject(answer)) return { action: "accept", content: answer };
  const [first] = fields;
  return { action: "accept", content: { [first?.name ?? "answer"]: answer } };
}
