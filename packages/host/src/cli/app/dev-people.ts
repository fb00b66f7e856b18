/** The people of a development host. Each has a key of their own, so that a gate with several approvers can be tried. */
import { createHmac } from 'node:crypto';
import { InvalidArgumentError } from 'commander';

/** The principal of the key that `cairn dev` stores. */
export const DEVELOPER = 'developer';

const MAX_PEOPLE = 20;
const personName = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;

/** Parses `--people ada,ben`. */
export function peopleOf(text: string): readonly string[] {
  const people = [...new Set(text.split(',').map((name) => name.trim()))];
  const wrong = people.find((name) => !personName.test(name) || name === DEVELOPER);
  if (wrong !== undefined) {
    throw new InvalidArgumentError(
      `${JSON.stringify(wrong)} cannot be a person: use letters, digits and . _ @ -, and not "${DEVELOPER}".`,
    );
  }
  if (people.length <= MAX_PEOPLE) return people;
  throw new InvalidArgumentError(`There are ${people.length} people; at most ${MAX_PEOPLE} are possible.`);
}

/** Derived from the key of the host, so that it survives a restart without a file. */
export const personKey = (hostKey: string, person: string): string =>
  `cairn_dev_${createHmac('sha256', hostKey).update(`person:${person}`).digest('base64url')}`;
