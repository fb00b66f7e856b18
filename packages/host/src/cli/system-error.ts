/** Says in words what a file or a folder refused. These are not mistakes of the program, so nobody needs a stack. */
import { type CairnError, TerminalError } from '@cairn/protocol';

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'no space is left on the disk',
  // Also what Node says when it cannot make a folder on a read-only file system.
  ENOENT: 'it is not there, or the file system is read-only',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists already',
  ENAMETOOLONG: 'the name is too long',
};

/** An error of a system call on a file; null for every other error. */
export function systemError(error: unknown): CairnError | null {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return null;
  const reason = reasons[String(error.code)];
  if (reason === undefined) return null;
  const path = 'path' in error && typeof error.path === 'string' ? error.path : 'A file';
  return new TerminalError('validation_error', {
    message: `${path} cannot be used: ${reason}.`,
    hint: 'Check the path, its permissions and the free space, then try again.',
    cause: error,
  });
}
