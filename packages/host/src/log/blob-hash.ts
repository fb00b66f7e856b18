/** The name of a blob. */
import { hash } from 'node:crypto';

export const blobHash = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');
