// W1 on ns-3: ns3_w1 SCHEDULER FRAMES prints ns per frame, then mean, standard deviation, minimum, maximum, p0.5 and p99.5.
// The work is described in w1.py.

#include "ns3/core-module.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace {

constexpr int64_t INTERVAL = 100000;
constexpr int64_t LEAD = 50000;
constexpr int64_t FETCH = 1000;
constexpr int64_t UNIT = 128;
constexpr int64_t REACH = 2048;

class Card {
  public:
    explicit Card(int64_t frames) : m_frames(frames), m_counts(2 * REACH, 0) {
        m_normal = CreateObject<NormalRandomVariable>();
        m_normal->SetAttribute("Variance", DoubleValue(64.0 * 64.0));
    }

    void Submit() {
        const int64_t number = m_number++;
        Simulator::Schedule(NanoSeconds(FETCH), &Card::Fetched, this, number);
        if (m_number < m_frames) {
            Simulator::Schedule(NanoSeconds(INTERVAL), &Card::Submit, this);
        }
    }

    void Fetched(int64_t number) {
        const int64_t now = Simulator::Now().GetNanoSeconds();
        const int64_t held = (number * INTERVAL + LEAD) / UNIT * UNIT;
        const double wanted = static_cast<double>(held) + m_normal->GetValue();
        const int64_t release = std::max(static_cast<int64_t>(std::ceil(wanted / UNIT)) * UNIT, now);
        Simulator::Schedule(NanoSeconds(release - now), &Card::Released, this);
    }

    void Released() {
        const int64_t stamp = Simulator::Now().GetNanoSeconds() * 13 / 16 * 16 / 13;
        if (m_last >= 0) {
            const int64_t deviation = stamp - m_last - INTERVAL;
            m_sum += deviation;
            m_squares += deviation * deviation;
            m_counts[deviation + REACH] += 1;
        }
        m_last = stamp;
    }

    void Print(double seconds) const {
        const auto n = static_cast<double>(m_frames - 1);
        const double mean = m_sum / n;
        std::cout.precision(12);
        std::cout << seconds / m_frames * 1e9 << ' ' << INTERVAL + mean << ' ' << std::sqrt(m_squares / n - mean * mean);
        for (const double part : {0.0, 1.0, 0.005, 0.995}) {
            std::cout << ' ' << Quantile(part);
        }
        std::cout << '\n';
    }

  private:
    int64_t Quantile(double part) const {
        const auto rank = static_cast<int64_t>(part * (m_frames - 2));
        int64_t seen = 0;
        for (int64_t place = 0; place < 2 * REACH; ++place) {
            seen += m_counts[place];
            if (seen > rank) {
                return place - REACH + INTERVAL;
            }
        }
        return INTERVAL;
    }

    int64_t m_frames;
    int64_t m_number = 0;
    int64_t m_last = -1;
    int64_t m_sum = 0;
    int64_t m_squares = 0;
    std::vector<int64_t> m_counts;
    Ptr<NormalRandomVariable> m_normal;
};

} // namespace

int main(int argc, char* argv[]) {
    if (argc != 3) {
        std::cerr << "usage: ns3_w1 SCHEDULER FRAMES\n";
        return 2;
    }
    ObjectFactory scheduler;
    scheduler.SetTypeId(std::string("ns3::") + argv[1]);
    Simulator::SetScheduler(scheduler);
    const int64_t frames = std::atoll(argv[2]);
    Card card(frames);
    Simulator::ScheduleNow(&Card::Submit, &card);
    const auto start = std::chrono::steady_clock::now();
    Simulator::Run();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    card.Print(elapsed.count());
    Simulator::Destroy();
    return 0;
}
