/** With whom a node shares what is said: nobody, the other nodes of its run, or a group of its conversation. */
import type { Json } from '@cairn/protocol';

/** Said of a node, and of a channel that holds what a group says. */
const wellFormed = /^(isolated|shared|shared:[A-Za-z0-9][A-Za-z0-9._-]{0,127})$/;

/** What is wrong with a setting; nothing when it is left out, which means `isolated`. */
export function sharingProblems(value: Json | undefined, what: string): readonly string[] {
  if (value === undefined || (typeof value === 'string' && wellFormed.test(value))) return [];
  return [`${what} must be isolated, shared, or shared:<group> with up to 128 letters, digits, ".", "_" and "-"`];
}

/** The group of `shared:<group>`; null for the other settings. */
export const groupIdOf = (sharing: Json | undefined): string | null =>
  typeof sharing === 'string' && sharing.startsWith('shared:') ? sharing.slice('shared:'.length) : null;
