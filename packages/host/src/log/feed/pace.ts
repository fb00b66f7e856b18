/** How long live events may wait so that one write carries several, and which events never wait. */
import { isTerminalType } from '@cairn/protocol';

export interface Pace {
  /** Milliseconds that new events may wait; 0 while the host has time to write each at once. */
  holdMs(): number;
  after(ms: number, wake: () => void): void;
}

/** A run that ends or asks for input: its client has to stop, or to act. */
export const isUrgent = (type: string): boolean => type === 'node.suspended' || isTerminalType(type);
