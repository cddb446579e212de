// Work that a search has done and may do, and the chance for the caller to stop it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/best_sets.hpp"
#include "core/processor_time.hpp"

namespace sev {

/// Calls back every few milliseconds of work; the callback may throw to end the search.
class Pulse {
public:
    explicit Pulse(std::function<void()> poll) : poll_(std::move(poll)) {}

    /// Counts units of work, of roughly two nanoseconds; true when it called back.
    bool tick(std::int64_t units) {
        since_ += units;
        if (since_ < between_) return false;
        since_ = 0;
        poll_();
        return true;
    }

private:
    /// Two milliseconds; walks of deep trees and a busy machine make many times that of it, and Ctrl-C waits for it.
    static constexpr std::int64_t between_ = 1'000'000;
    std::function<void()> poll_;
    std::int64_t since_ = 0;
};

/// Work of one search: so many units, and so many seconds where there is a time limit.
class Budget {
public:
    using Clock = std::chrono::steady_clock;

    Budget(Pulse& pulse, std::int64_t limit, double seconds) : pulse_(&pulse), limit_(within(limit)) {
        if (seconds != seconds) throw std::invalid_argument("seconds must be a number");
        timed_ = seconds < 1e9;  // thirty years: no limit
        const Seconds allowed(seconds > 0.0 ? seconds : 0.0);
        if (timed_) deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(allowed);
    }

    /// Counts work; false when no more may be done.
    bool spend(std::int64_t units) {
        used_ += units;
        if (sets_ != nullptr && sets_->count() > sets_->kept()) {
            if (limit_ - used_ > listing_) limit_ = used_ + listing_;
            sets_ = nullptr;
        }
        if (pulse_->tick(units) && is_late()) late_ = true;
        return used_ <= limit_ && !late_;
    }
    /// Ends the search also after so many seconds of the processor, however slow that is.
    void bound_processor(double seconds) { processor_end_ = processor_seconds() + seconds; }
    /// From now on so much work may be done, whatever was done before; time limits stay.
    void restart(std::int64_t limit) {
        before_ += used_;
        used_ = 0;
        limit_ = within(limit);
    }
    /// Once more sets are found than are kept, only so much more may be done, to find the best of them.
    void watch(const BestSets& sets, std::int64_t listing) {
        sets_ = &sets;
        listing_ = within(listing);
    }
    /// A budget of one part of what is left, of the work and of the time.
    Budget share(std::int64_t parts) const {
        Budget some(*this);
        some.used_ = 0;
        some.limit_ = limit_ > used_ ? (limit_ - used_) / parts : 0;
        const Clock::time_point now = Clock::now();
        if (timed_ && deadline_ > now) some.deadline_ = now + (deadline_ - now) / parts;
        some.sets_ = nullptr;
        return some;
    }
    /// So much more, even where this one has ended: without its deadline.
    Budget beyond(std::int64_t work) const {
        Budget some(*this);
        some.used_ = 0;
        some.limit_ = within(work);
        some.sets_ = nullptr;
        some.timed_ = some.late_ = false;
        some.processor_end_ = std::numeric_limits<double>::infinity();
        return some;
    }
    bool spent() const { return used_ > limit_ || late_; }
    /// Since the start, or the last new start.
    std::int64_t used() const { return used_; }
    std::int64_t used_in_all() const { return before_ + used_; }

private:
    /// Far from where sums of work would overflow.
    static std::int64_t within(std::int64_t work) {
        constexpr std::int64_t most = std::int64_t{1} << 61;
        return work < 0 ? 0 : work > most ? most : work;
    }

    bool is_late() const {
        return (timed_ && Clock::now() > deadline_) || (processor_end_ < 1e300 && processor_seconds() > processor_end_);
    }

    using Seconds = std::chrono::duration<double>;
    Pulse* pulse_;
    const BestSets* sets_ = nullptr;
    std::int64_t listing_ = 0;
    std::int64_t used_ = 0, before_ = 0, limit_;
    double processor_end_ = std::numeric_limits<double>::infinity();
    bool timed_ = false, late_ = false;
    Clock::time_point deadline_{};
};

}  // namespace sev
