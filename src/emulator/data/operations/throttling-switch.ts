import type { FailStep } from "../../brains/step.ts";
import type { ServiceError } from "../../service/service-types.ts";
import type { Switches } from "../../switches.ts";

/** A refusal as the switches want it shown: the error itself, or a frame of a stream that otherwise began well. */
export function applyThrottlingSwitch(
  error: ServiceError,
  switches: Switches,
): ServiceError | FailStep {
  if (error.type !== "ThrottlingException") return error;
  switch (switches.throttlingInStream) {
    case "http":
      return error;
    case "frame":
      return { type: "fail", exception: "throttlingException", message: error.message };
    case "wrapped":
      return {
        type: "fail",
        exception: "runtimeClientError",
        message: `An error occurred (ThrottlingException) when calling the ConverseStream operation: ${error.message}`,
      };
    default:
      return switches.throttlingInStream satisfies never;
  }
}
