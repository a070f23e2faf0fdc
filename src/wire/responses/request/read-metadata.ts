import { isAbsent, readObject, readString } from "./body-fields.ts";
import { createFieldError } from "./request-error.ts";

/** At most 16 pairs: names of up to 64 characters, values of up to 512. */
export function readMetadata(metadata: unknown): { readonly [name: string]: string } {
  if (isAbsent(metadata)) return {};
  const entries = Object.entries(readObject(metadata, "metadata"));
  if (entries.length > 16)
    throw createFieldError("metadata", "has more than 16 pairs; send fewer", "too_many_entries");
  const read = entries.map(([name, value]) => {
    if (name.length > 64)
      throw createFieldError(`metadata.${name}`, "has a name of more than 64 characters");
    return [name, readString(value, `metadata.${name}`, 512)] as const;
  });
  return Object.fromEntries(read);
}
