/** Watches for unhandled rejections, which would end a process, in tests that must not miss one. */

/** Runs the work and reports every unhandled rejection in the meantime. */
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
