/** Rejections that nobody catches end a process; a test that must not miss one watches for them here. */

/** Does the work, telling of every rejection that is left uncaught meanwhile. */
export async function watchingRejections<Result>(
  told: (reason: unknown) => void,
  work: () => Promise<Result>,
): Promise<Result> {
  process.on('unhandledRejection', told);
  try {
    return await work();
  } finally {
    process.off('unhandledRejection', told);
  }
}
