import { ServiceError } from "./service-types.ts";

export type ValidationReason =
  | "CannotParse"
  | "FieldValidationFailed"
  | "IdempotentParameterMismatchException"
  | "ResourceConflict";

/** An invalid member of a request. */
export interface Violation {
  readonly name: string;
  readonly message: string;
}

export function createValidationError(
  message: string,
  reason: ValidationReason,
  fieldList: readonly Violation[] = [],
): ServiceError {
  const members = fieldList.length === 0 ? { reason } : { reason, fieldList };
  return new ServiceError(400, "ValidationException", message, members);
}
