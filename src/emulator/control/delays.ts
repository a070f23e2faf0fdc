/** Simulated delays of the control plane, in milliseconds. AWS needs seconds to minutes; the default is none. */
export interface Delays {
  /** Until a new harness can be read: reads of AWS are eventually consistent. */
  readonly visible: number;
  readonly create: number;
  readonly update: number;
  readonly delete: number;
  /** Until the first endpoint of a new harness can be read. */
  readonly endpointVisible: number;
  /** The additional time of an endpoint after its version is ready. */
  readonly endpoint: number;
}

export const NO_DELAYS: Delays = {
  visible: 0,
  create: 0,
  update: 0,
  delete: 0,
  endpointVisible: 0,
  endpoint: 0,
};
