"""Wrong programs for the closed forms of checkpointing: what people really write. Each is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip

# --- checkpoint_waste


def waste_first_order(interval, checkpoint_time, mtbf, restart_time=0.0):
    if not (0 < interval < 1e300 and 0 < mtbf < 1e300 and 0 <= checkpoint_time < 1e300 and 0 <= restart_time < 1e300):
        raise ValueError("out of range")
    return checkpoint_time / interval + interval / (2 * mtbf) + restart_time / mtbf


def waste_writing(interval, checkpoint_time, mtbf, restart_time=0.0):
    if not (0 < interval < 1e300 and 0 < mtbf < 1e300 and 0 <= checkpoint_time < 1e300 and 0 <= restart_time < 1e300):
        raise ValueError("out of range")
    return checkpoint_time / (interval + checkpoint_time)


def waste_whole_interval(interval, checkpoint_time, mtbf, restart_time=0.0):
    if not (0 < interval < 1e300 and 0 < mtbf < 1e300 and 0 <= checkpoint_time < 1e300 and 0 <= restart_time < 1e300):
        raise ValueError("out of range")
    overhead = checkpoint_time / interval + (interval + checkpoint_time + restart_time) / mtbf
    return overhead / (1 + overhead)


def waste_overhead(interval, checkpoint_time, mtbf, restart_time=0.0):
    from math import exp, expm1, inf

    if not (0 < interval < inf and 0 < mtbf < inf and 0 <= checkpoint_time < inf and 0 <= restart_time < inf):
        raise ValueError("out of range")
    try:
        return exp(restart_time / mtbf) * expm1((interval + checkpoint_time) / mtbf) * mtbf / interval - 1
    except OverflowError:
        return 1.0


def waste_restart_each_time(interval, checkpoint_time, mtbf, restart_time=0.0):
    from math import expm1, inf

    if not (0 < interval < inf and 0 < mtbf < inf and 0 <= checkpoint_time < inf and 0 <= restart_time < inf):
        raise ValueError("out of range")
    try:
        return 1 - interval / (mtbf * expm1((interval + checkpoint_time + restart_time) / mtbf))
    except OverflowError:
        return 1.0


def waste_restart_forgotten(interval, checkpoint_time, mtbf, restart_time=0.0):
    from math import expm1, inf

    if not (0 < interval < inf and 0 < mtbf < inf and 0 <= checkpoint_time < inf and 0 <= restart_time < inf):
        raise ValueError("out of range")
    try:
        return 1 - interval / (mtbf * expm1((interval + checkpoint_time) / mtbf))
    except OverflowError:
        return 1.0


def waste_safe_checkpoint(interval, checkpoint_time, mtbf, restart_time=0.0):
    from math import exp, expm1, inf

    if not (0 < interval < inf and 0 < mtbf < inf and 0 <= checkpoint_time < inf and 0 <= restart_time < inf):
        raise ValueError("out of range")
    try:
        wall = mtbf * exp(restart_time / mtbf) * expm1(interval / mtbf) + checkpoint_time
    except OverflowError:
        return 1.0
    return 1 - interval / wall


def waste_overflows(interval, checkpoint_time, mtbf, restart_time=0.0):
    from math import exp, expm1, inf

    if not (0 < interval < inf and 0 < mtbf < inf and 0 <= checkpoint_time < inf and 0 <= restart_time < inf):
        raise ValueError("out of range")
    return 1 - interval / (mtbf * exp(restart_time / mtbf) * expm1((interval + checkpoint_time) / mtbf))


def waste_unchecked(interval, checkpoint_time, mtbf, restart_time=0.0):
    from math import exp, expm1

    try:
        wall = mtbf * exp(restart_time / mtbf) * expm1((interval + checkpoint_time) / mtbf)
        return 1 - interval / wall
    except (OverflowError, ZeroDivisionError):
        return 1.0


CHECKPOINT_WASTE = (
    Slip("C/t + t/(2M) + R/M is the first order: it can pass 1, and a share cannot.", waste_first_order),
    Slip("That is the writing alone: work is lost and done again, too.", waste_writing),
    Slip("A failure loses half an interval in the mean, not a whole one.", waste_whole_interval),
    Slip("That is the overhead, idle over useful; the waste is idle over all.", waste_overhead),
    Slip("A restart follows a failure, not every checkpoint.", waste_restart_each_time),
    Slip("Restarts are missing: they multiply the wall-clock by exp(R/M).", waste_restart_forgotten),
    Slip("A failure may strike during a checkpoint, too: t + C stands in the exponent.", waste_safe_checkpoint),
    Slip("Where the exponential leaves the range of floats, the waste is 1.0.", waste_overflows),
    Slip("Impossible arguments were accepted.", waste_unchecked),
)

# --- checkpoint_write_time


def write_own_storage(parameters, bytes_per_parameter, writers, writer_bandwidth, storage_bandwidth):
    if not 0 <= parameters < 1e300 or bytes_per_parameter < 0 or writers < 1 or writers != int(writers):
        raise ValueError("out of range")
    if not 0 < writer_bandwidth < 1e300 or not 0 < storage_bandwidth < 1e300:
        raise ValueError("out of range")
    return parameters * bytes_per_parameter / (writers * min(writer_bandwidth, storage_bandwidth))


def write_fastest(parameters, bytes_per_parameter, writers, writer_bandwidth, storage_bandwidth):
    if not 0 <= parameters < 1e300 or bytes_per_parameter < 0 or writers < 1 or writers != int(writers):
        raise ValueError("out of range")
    if not 0 < writer_bandwidth < 1e300 or not 0 < storage_bandwidth < 1e300:
        raise ValueError("out of range")
    return parameters * bytes_per_parameter / max(writers * writer_bandwidth, storage_bandwidth)


def write_links_only(parameters, bytes_per_parameter, writers, writer_bandwidth, storage_bandwidth):
    if not 0 <= parameters < 1e300 or bytes_per_parameter < 0 or writers < 1 or writers != int(writers):
        raise ValueError("out of range")
    if not 0 < writer_bandwidth < 1e300 or not 0 < storage_bandwidth < 1e300:
        raise ValueError("out of range")
    return parameters * bytes_per_parameter / (writers * writer_bandwidth)


def write_one_link(parameters, bytes_per_parameter, writers, writer_bandwidth, storage_bandwidth):
    if not 0 <= parameters < 1e300 or bytes_per_parameter < 0 or writers < 1 or writers != int(writers):
        raise ValueError("out of range")
    if not 0 < writer_bandwidth < 1e300 or not 0 < storage_bandwidth < 1e300:
        raise ValueError("out of range")
    return parameters * bytes_per_parameter / min(writer_bandwidth, storage_bandwidth)


def write_gradients(parameters, bytes_per_parameter, writers, writer_bandwidth, storage_bandwidth):
    if not 0 <= parameters < 1e300 or bytes_per_parameter < 0 or writers < 1 or writers != int(writers):
        raise ValueError("out of range")
    if not 0 < writer_bandwidth < 1e300 or not 0 < storage_bandwidth < 1e300:
        raise ValueError("out of range")
    return parameters * (bytes_per_parameter + 2) / min(writers * writer_bandwidth, storage_bandwidth)


def write_unchecked(parameters, bytes_per_parameter, writers, writer_bandwidth, storage_bandwidth):
    return parameters * bytes_per_parameter / min(writers * writer_bandwidth, storage_bandwidth)


CHECKPOINT_WRITE_TIME = (
    Slip("Writers do not multiply the storage: all of them share it.", write_own_storage),
    Slip("The slower of the two decides: min, not max.", write_fastest),
    Slip("The storage is missing: it does not grow with the writers.", write_links_only),
    Slip("Writers work at the same time: their links add up.", write_one_link),
    Slip("`bytes_per_parameter` is all that is stored; gradients are not.", write_gradients),
    Slip("Impossible arguments were accepted.", write_unchecked),
)

# --- failure_cost


def cost_no_checkpoint(interval, checkpoint_time, mtbf, restart_time, gpus, price_per_gpu_hour):
    import math

    if not (0 < interval < 1e300 and 0 < mtbf < 1e300 and checkpoint_time >= 0 and restart_time >= 0):
        raise ValueError("out of range")
    if gpus < 1 or gpus != int(gpus) or price_per_gpu_hour < 0:
        raise ValueError("out of range")
    lost = mtbf - interval / math.expm1(interval / mtbf) if interval < 700 * mtbf else mtbf
    return (lost + restart_time) * gpus * price_per_gpu_hour / 3600


def cost_half(interval, checkpoint_time, mtbf, restart_time, gpus, price_per_gpu_hour):
    if not (0 < interval < 1e300 and 0 < mtbf < 1e300 and checkpoint_time >= 0 and restart_time >= 0):
        raise ValueError("out of range")
    if gpus < 1 or gpus != int(gpus) or price_per_gpu_hour < 0:
        raise ValueError("out of range")
    return ((interval + checkpoint_time) / 2 + restart_time) * gpus * price_per_gpu_hour / 3600


def cost_whole(interval, checkpoint_time, mtbf, restart_time, gpus, price_per_gpu_hour):
    if not (0 < interval < 1e300 and 0 < mtbf < 1e300 and checkpoint_time >= 0 and restart_time >= 0):
        raise ValueError("out of range")
    if gpus < 1 or gpus != int(gpus) or price_per_gpu_hour < 0:
        raise ValueError("out of range")
    return (interval + checkpoint_time + restart_time) * gpus * price_per_gpu_hour / 3600


def cost_one_gpu(interval, checkpoint_time, mtbf, restart_time, gpus, price_per_gpu_hour):
    from math import expm1

    if not (0 < interval < 1e300 and 0 < mtbf < 1e300 and checkpoint_time >= 0 and restart_time >= 0):
        raise ValueError("out of range")
    if gpus < 1 or gpus != int(gpus) or price_per_gpu_hour < 0:
        raise ValueError("out of range")
    length = interval + checkpoint_time
    lost = mtbf - length / expm1(min(length / mtbf, 700))
    return (lost + restart_time) * price_per_gpu_hour / 3600


def cost_half_mtbf(interval, checkpoint_time, mtbf, restart_time, gpus, price_per_gpu_hour):
    if not (0 < interval < 1e300 and 0 < mtbf < 1e300 and checkpoint_time >= 0 and restart_time >= 0):
        raise ValueError("out of range")
    if gpus < 1 or gpus != int(gpus) or price_per_gpu_hour < 0:
        raise ValueError("out of range")
    return (mtbf / 2 + restart_time) * gpus * price_per_gpu_hour / 3600


def cost_no_restart(interval, checkpoint_time, mtbf, restart_time, gpus, price_per_gpu_hour):
    from math import expm1

    if not (0 < interval < 1e300 and 0 < mtbf < 1e300 and checkpoint_time >= 0 and restart_time >= 0):
        raise ValueError("out of range")
    if gpus < 1 or gpus != int(gpus) or price_per_gpu_hour < 0:
        raise ValueError("out of range")
    length = interval + checkpoint_time
    return (mtbf - length / expm1(min(length / mtbf, 700))) * gpus * price_per_gpu_hour / 3600


def cost_unchecked(interval, checkpoint_time, mtbf, restart_time, gpus, price_per_gpu_hour):
    from math import expm1

    length = interval + checkpoint_time
    lost = mtbf - length / expm1(min(length / mtbf, 700)) if mtbf > 0 and length > 0 else mtbf
    return (lost + restart_time) * gpus * price_per_gpu_hour / 3600


FAILURE_COST = (
    Slip("A failure in the checkpoint loses the interval, too: the segment is t + C long.", cost_no_checkpoint),
    Slip("Half a segment is the first order: failures strike early in a segment more often than late.", cost_half),
    Slip("A failure loses half a segment in the mean, not a whole one.", cost_whole),
    Slip("The whole job waits: every GPU is paid for.", cost_one_gpu),
    Slip("What is lost began at the last checkpoint, not at the last failure.", cost_half_mtbf),
    Slip("The restart is missing.", cost_no_restart),
    Slip("Impossible arguments were accepted.", cost_unchecked),
)
